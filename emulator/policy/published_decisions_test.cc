// Decisions that AWS's documentation states for the policies that it publishes: for each policy the
// requests that its text allows, and those that it does not. The policies are written anew; names
// and values differ. Each group names the page ("S3": Amazon S3 User Guide, "IAM": IAM User Guide).
#include <gtest/gtest.h>

#include "emulator/policy/evaluator.h"
#include "emulator/policy/policy_test_support.h"

namespace penstock::emulator::policy {
namespace {

using testing::MapContext;

// Who sends a request. The bucket belongs to account 111122223333.
enum class Who {
  kAnyone,   // Unsigned.
  kOwner,    // The root of the bucket's account.
  kAnn,      // A user of the bucket's account without identity policies.
  kPartner,  // The user Dave of account 444455556666, whose identity policies allow everything.
  kRole,     // A session of the role JohnDoe in the bucket's account, without identity policies.
};

using Keys = std::initializer_list<std::pair<const std::string, Context::Values>>;

struct Case {
  Who who;
  std::string_view action;
  std::string_view resource;  // After "arn:aws:s3:::".
  bool allowed;
  Keys keys = {};
};

constexpr std::string_view kEverything =
    R"({"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}})";

Principal PrincipalOf(Who who, const PrincipalPolicies* policies) {
  switch (who) {
    case Who::kAnyone: return {};
    case Who::kOwner:
      return {.type = Principal::Type::kRoot,
              .account_id = "111122223333",
              .canonical_id = "1",
              .arn = "arn:aws:iam::111122223333:root"};
    case Who::kAnn:
      return {.type = Principal::Type::kUser,
              .account_id = "111122223333",
              .canonical_id = "1",
              .arn = "arn:aws:iam::111122223333:user/Ann",
              .policies = policies};
    case Who::kPartner:
      return {.type = Principal::Type::kUser,
              .account_id = "444455556666",
              .canonical_id = "4",
              .arn = "arn:aws:iam::444455556666:user/Dave",
              .policies = policies};
    case Who::kRole:
      return {.type = Principal::Type::kRoleSession,
              .account_id = "111122223333",
              .canonical_id = "1",
              .arn = "arn:aws:sts::111122223333:assumed-role/JohnDoe/job",
              .role_arn = "arn:aws:iam::111122223333:role/JohnDoe",
              .policies = policies};
  }
  return {};
}

int decisions = 0;

void Expect(std::string_view source, const Request& request, const Case& one) {
  ++decisions;
  EXPECT_TRUE(source.starts_with("S3, ") || source.starts_with("IAM, ")) << source;
  EXPECT_EQ(Evaluate(request).allowed, one.allowed)
      << source << ": " << one.action << " on " << one.resource << " by "
      << static_cast<int>(one.who);
}

Request MakeRequest(const Case& one, const std::string& arn, const Context& context) {
  Request request;
  request.action = one.action;
  request.resource = arn;
  request.same_account = one.who != Who::kAnyone && one.who != Who::kPartner;
  request.context = &context;
  return request;
}

// The bucket has the policy with these statements.
void Bucket(std::string_view source, std::string_view statements,
            std::initializer_list<Case> cases) {
  const auto document = testing::Resource(R"({"Version":"2012-10-17","Statement":[)" +
                                          std::string(statements) + "]}");
  const PrincipalPolicies none;
  const PrincipalPolicies all{.identity = {{"all", testing::Identity(kEverything)}}};
  for (const Case& one : cases) {
    const MapContext context(one.keys);
    const std::string arn = "arn:aws:s3:::" + std::string(one.resource);
    Request request = MakeRequest(one, arn, context);
    request.principal = PrincipalOf(one.who, one.who == Who::kPartner ? &all : &none);
    request.resource_policy = document.get();
    Expect(source, request, one);
  }
}

// The user Ann has the policy with these statements, and the bucket has none.
void User(std::string_view source, std::string_view statements, std::initializer_list<Case> cases) {
  const PrincipalPolicies own{
      .identity = {{"user/Ann/p", testing::Identity(R"({"Version":"2012-10-17","Statement":[)" +
                                                    std::string(statements) + "]}")}}};
  for (const Case& one : cases) {
    const MapContext context(one.keys);
    const std::string arn = "arn:aws:s3:::" + std::string(one.resource);
    Request request = MakeRequest(one, arn, context);
    request.principal = PrincipalOf(one.who, &own);
    Expect(source, request, one);
  }
}

using enum Who;

TEST(PublishedDecisionsTest, PublicAndCrossAccountAccess) {
  Bucket(
      "S3, Examples of bucket policies: public read",
      R"({"Effect":"Allow","Principal":"*","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]})",
      {{kAnyone, "s3:GetObject", "b/k", true},
       {kAnyone, "s3:GetObject", "c/k", false},
       {kAnyone, "s3:PutObject", "b/k", false},
       {kAnyone, "s3:ListBucket", "b", false},
       {kAnyone, "s3:GetObjectVersion", "b/k", false},
       {kAnn, "s3:GetObject", "b/k", true},
       {kPartner, "s3:GetObject", "b/k", true},
       {kOwner, "s3:PutObject", "b/k", true}});
  Bucket(
      "S3, Bucket owner granting cross-account bucket permissions",
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:root"},"Action":["s3:GetBucketLocation","s3:ListBucket"],"Resource":["arn:aws:s3:::b"]})",
      {{kPartner, "s3:ListBucket", "b", true},
       {kPartner, "s3:GetBucketLocation", "b", true},
       {kPartner, "s3:GetObject", "b/k", false},
       {kPartner, "s3:DeleteBucket", "b", false},
       {kAnn, "s3:ListBucket", "b", false},
       {kAnyone, "s3:ListBucket", "b", false},
       {kOwner, "s3:ListBucket", "b", true}});
  Bucket(
      "S3, Granting cross-account permissions with full control for the bucket owner",
      R"({"Effect":"Allow","Principal":{"AWS":"444455556666"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control"}}})",
      {{kPartner, "s3:PutObject", "b/k", true, {{"s3:x-amz-acl", {"bucket-owner-full-control"}}}},
       {kPartner, "s3:PutObject", "b/k", false, {{"s3:x-amz-acl", {"private"}}}},
       {kPartner, "s3:PutObject", "b/k", false},
       {kPartner, "s3:GetObject", "b/k", false, {{"s3:x-amz-acl", {"bucket-owner-full-control"}}}},
       {kAnyone, "s3:PutObject", "b/k", false, {{"s3:x-amz-acl", {"bucket-owner-full-control"}}}}});
  Bucket(
      "S3, Examples of bucket policies: canned ACL for several accounts",
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::444455556666:root","arn:aws:iam::777788889999:root"]},"Action":["s3:PutObject","s3:PutObjectAcl"],"Resource":"arn:aws:s3:::b/*","Condition":{"StringEquals":{"s3:x-amz-acl":["public-read"]}}})",
      {{kPartner, "s3:PutObject", "b/k", true, {{"s3:x-amz-acl", {"public-read"}}}},
       {kPartner, "s3:PutObjectAcl", "b/k", true, {{"s3:x-amz-acl", {"public-read"}}}},
       {kPartner, "s3:PutObject", "b/k", false, {{"s3:x-amz-acl", {"public-read-write"}}}},
       {kPartner, "s3:PutObjectVersionAcl", "b/k", false, {{"s3:x-amz-acl", {"public-read"}}}},
       {kAnn, "s3:PutObject", "b/k", false, {{"s3:x-amz-acl", {"public-read"}}}}});
}

TEST(PublishedDecisionsTest, EncryptionAndTransport) {
  Bucket(
      "S3, Protecting data with SSE-KMS: require the header",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"StringNotEquals":{"s3:x-amz-server-side-encryption":"aws:kms"}}})",
      {{kOwner, "s3:PutObject", "b/k", true, {{"s3:x-amz-server-side-encryption", {"aws:kms"}}}},
       {kOwner, "s3:PutObject", "b/k", false, {{"s3:x-amz-server-side-encryption", {"AES256"}}}},
       {kOwner, "s3:PutObject", "b/k", false},
       {kOwner, "s3:GetObject", "b/k", true},
       {kAnn, "s3:PutObject", "b/k", false, {{"s3:x-amz-server-side-encryption", {"aws:kms"}}}}});
  Bucket(
      "S3, Examples of bucket policies: require SSE-KMS for all objects",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:x-amz-server-side-encryption-aws-kms-key-id":"true"}}})",
      {{kOwner, "s3:PutObject", "b/k", false},
       {kOwner,
        "s3:PutObject",
        "b/k",
        true,
        {{"s3:x-amz-server-side-encryption-aws-kms-key-id",
          {"arn:aws:kms:us-east-2:111122223333:key/k"}}}},
       {kOwner, "s3:DeleteObject", "b/k", true}});
  Bucket(
      "S3, Examples of bucket policies: one KMS key",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"ArnNotEqualsIfExists":{"s3:x-amz-server-side-encryption-aws-kms-key-id":"arn:aws:kms:us-east-2:111122223333:key/one"}}})",
      {{kOwner,
        "s3:PutObject",
        "b/k",
        true,
        {{"s3:x-amz-server-side-encryption-aws-kms-key-id",
          {"arn:aws:kms:us-east-2:111122223333:key/one"}}}},
       {kOwner,
        "s3:PutObject",
        "b/k",
        false,
        {{"s3:x-amz-server-side-encryption-aws-kms-key-id",
          {"arn:aws:kms:us-east-2:111122223333:key/two"}}}}});
  Bucket(
      "S3, Using server-side encryption with customer-provided keys: require it",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:x-amz-server-side-encryption-customer-algorithm":"true"}}})",
      {{kOwner, "s3:PutObject", "b/k", false},
       {kOwner,
        "s3:PutObject",
        "b/k",
        true,
        {{"s3:x-amz-server-side-encryption-customer-algorithm", {"AES256"}}}}});
  Bucket(
      "S3, Using server-side encryption with customer-provided keys: forbid it",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:x-amz-server-side-encryption-customer-algorithm":"false"}}})",
      {{kOwner, "s3:PutObject", "b/k", true},
       {kOwner,
        "s3:PutObject",
        "b/k",
        false,
        {{"s3:x-amz-server-side-encryption-customer-algorithm", {"AES256"}}}}});
  Bucket(
      "S3, Examples of bucket policies: HTTPS only",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],"Condition":{"Bool":{"aws:SecureTransport":"false"}}})",
      {{kOwner, "s3:GetObject", "b/k", false, {{"aws:SecureTransport", {"false"}}}},
       {kOwner, "s3:ListBucket", "b", false, {{"aws:SecureTransport", {"false"}}}},
       {kOwner, "s3:GetObject", "b/k", true, {{"aws:SecureTransport", {"true"}}}},
       {kAnyone, "s3:GetObject", "b/k", false, {{"aws:SecureTransport", {"true"}}}}});
  Bucket(
      "S3, Bucket policy examples using condition keys: minimum TLS version",
      R"({"Effect":"Deny","Principal":{"AWS":"*"},"Action":"s3:PutObject","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],"Condition":{"NumericLessThan":{"s3:TlsVersion":1.2}}})",
      {{kOwner, "s3:PutObject", "b/k", false, {{"s3:TlsVersion", {"1.1"}}}},
       {kOwner, "s3:PutObject", "b/k", true, {{"s3:TlsVersion", {"1.2"}}}},
       {kOwner, "s3:PutObject", "b/k", true, {{"s3:TlsVersion", {"1.3"}}}},
       {kOwner, "s3:GetObject", "b/k", true, {{"s3:TlsVersion", {"1.0"}}}}});
}

TEST(PublishedDecisionsTest, Addresses) {
  Bucket(
      "S3, Examples of bucket policies: specific IP addresses",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],"Condition":{"NotIpAddress":{"aws:SourceIp":"192.0.2.0/24"}}})",
      {{kOwner, "s3:GetObject", "b/k", true, {{"aws:SourceIp", {"192.0.2.9"}}}},
       {kOwner, "s3:GetObject", "b/k", false, {{"aws:SourceIp", {"192.0.3.9"}}}},
       {kOwner, "s3:ListBucket", "b", false, {{"aws:SourceIp", {"2001:db8::1"}}}},
       {kOwner, "s3:GetObject", "b/k", false}});
  constexpr std::string_view kBoth =
      R"({"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],"Condition":{"IpAddress":{"aws:SourceIp":["192.0.2.0/24","2001:DB8:1234:5678::/64"]},"NotIpAddress":{"aws:SourceIp":["192.0.2.128/25","2001:DB8:1234:5678:ABCD::/80"]}}})";
  Bucket(
      "S3, Examples of bucket policies: both IPv4 and IPv6", kBoth,
      {{kAnyone, "s3:GetObject", "b/k", true, {{"aws:SourceIp", {"192.0.2.1"}}}},
       {kAnyone, "s3:GetObject", "b/k", false, {{"aws:SourceIp", {"192.0.2.200"}}}},
       {kAnyone, "s3:GetObject", "b/k", true, {{"aws:SourceIp", {"2001:db8:1234:5678:1::1"}}}},
       {kAnyone, "s3:GetObject", "b/k", false, {{"aws:SourceIp", {"2001:db8:1234:5678:abcd::1"}}}},
       {kAnyone, "s3:GetObject", "b/k", false, {{"aws:SourceIp", {"203.0.113.1"}}}}});
  User(
      "IAM, AWS: denies access based on the source IP",
      R"({"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"NotIpAddress":{"aws:SourceIp":["192.0.2.0/24","203.0.113.0/24"]}}})",
      {{kAnn, "s3:GetObject", "b/k", true, {{"aws:SourceIp", {"203.0.113.77"}}}},
       {kAnn, "s3:GetObject", "b/k", false, {{"aws:SourceIp", {"198.51.100.1"}}}},
       {kAnn, "s3:ListBucket", "b", true, {{"aws:SourceIp", {"192.0.2.255"}}}}});
  Bucket(
      "S3, Examples of bucket policies: HTTP referer",
      R"({"Effect":"Allow","Principal":"*","Action":["s3:GetObject","s3:GetObjectVersion"],"Resource":"arn:aws:s3:::b/*","Condition":{"StringLike":{"aws:Referer":["http://www.example.com/*","http://example.com/*"]}}})",
      {{kAnyone, "s3:GetObject", "b/k", true, {{"aws:Referer", {"http://www.example.com/page"}}}},
       {kAnyone, "s3:GetObjectVersion", "b/k", true, {{"aws:Referer", {"http://example.com/"}}}},
       {kAnyone, "s3:GetObject", "b/k", false, {{"aws:Referer", {"http://example.org/"}}}},
       {kAnyone, "s3:GetObject", "b/k", false}});
  Bucket(
      "S3, Controlling access from VPC endpoints",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"],"Condition":{"StringNotEquals":{"aws:SourceVpce":"vpce-0abcdef1"}}})",
      {{kOwner, "s3:GetObject", "b/k", false},
       {kOwner, "s3:GetObject", "b/k", true, {{"aws:SourceVpce", {"vpce-0abcdef1"}}}},
       {kOwner, "s3:GetObject", "b/k", false, {{"aws:SourceVpce", {"vpce-other"}}}}});
}

TEST(PublishedDecisionsTest, ListsAndFolders) {
  constexpr std::string_view kPrefix =
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"StringEquals":{"s3:prefix":"projects"}}},
         {"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"StringNotEquals":{"s3:prefix":"projects"}}})";
  Bucket("S3, Bucket policy examples using condition keys: list with a prefix", kPrefix,
         {{kAnn, "s3:ListBucket", "b", true, {{"s3:prefix", {"projects"}}}},
          {kAnn, "s3:ListBucket", "b", false, {{"s3:prefix", {"finance"}}}},
          {kAnn, "s3:ListBucket", "b", false},
          {kAnn, "s3:ListBucketVersions", "b", false, {{"s3:prefix", {"projects"}}}},
          {kOwner, "s3:ListBucket", "b", true, {{"s3:prefix", {"finance"}}}}});
  constexpr std::string_view kMaxKeys =
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"NumericLessThanEquals":{"s3:max-keys":"10"}}},
         {"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"NumericGreaterThan":{"s3:max-keys":"10"}}})";
  Bucket("S3, Bucket policy examples using condition keys: number of keys", kMaxKeys,
         {{kPartner, "s3:ListBucket", "b", true, {{"s3:max-keys", {"10"}}}},
          {kPartner, "s3:ListBucket", "b", false, {{"s3:max-keys", {"11"}}}},
          {kPartner, "s3:ListBucket", "b", true, {{"s3:max-keys", {"1"}}}},
          {kPartner, "s3:ListBucket", "b", false}});
  constexpr std::string_view kFolders =
      R"({"Effect":"Allow","Action":["s3:ListAllMyBuckets","s3:GetBucketLocation"],"Resource":["arn:aws:s3:::*"]},
         {"Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::b"],"Condition":{"StringEquals":{"s3:prefix":["","home/"],"s3:delimiter":["/"]}}},
         {"Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::b"],"Condition":{"StringLike":{"s3:prefix":["home/${aws:username}/*"]}}},
         {"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::b/home/${aws:username}/*"]})";
  User("S3, Controlling access to a bucket with user policies: folders", kFolders,
       {{kAnn, "s3:ListAllMyBuckets", "*", true},
        {kAnn, "s3:GetBucketLocation", "b", true},
        {kAnn, "s3:ListBucket", "b", true, {{"s3:prefix", {""}}, {"s3:delimiter", {"/"}}}},
        {kAnn, "s3:ListBucket", "b", true, {{"s3:prefix", {"home/"}}, {"s3:delimiter", {"/"}}}},
        {kAnn, "s3:ListBucket", "b", false, {{"s3:prefix", {"home/"}}}},
        {kAnn, "s3:ListBucket", "b", false},
        {kAnn,
         "s3:ListBucket",
         "b",
         true,
         {{"s3:prefix", {"home/Ann/x"}}, {"aws:username", {"Ann"}}}},
        {kAnn,
         "s3:ListBucket",
         "b",
         false,
         {{"s3:prefix", {"home/Bob/x"}}, {"aws:username", {"Ann"}}}},
        {kAnn, "s3:GetObject", "b/home/Ann/f", true, {{"aws:username", {"Ann"}}}},
        {kAnn, "s3:PutObject", "b/home/Ann/a/b", true, {{"aws:username", {"Ann"}}}},
        {kAnn, "s3:GetObject", "b/home/Bob/f", false, {{"aws:username", {"Ann"}}}},
        {kAnn, "s3:GetObject", "b/home/Ann/f", false},
        {kAnn, "s3:DeleteBucket", "b", false, {{"aws:username", {"Ann"}}}}});
  User(
      "IAM, Variables and tags: default values",
      R"({"Effect":"Allow","Action":["s3:GetObject","s3:ListBucket"],"Resource":["arn:aws:s3:::b","arn:aws:s3:::b/${aws:PrincipalTag/team, 'company-wide'}/*"]})",
      {{kAnn, "s3:GetObject", "b/company-wide/f", true},
       {kAnn, "s3:GetObject", "b/red/f", false},
       {kAnn, "s3:GetObject", "b/red/f", true, {{"aws:PrincipalTag/team", {"red"}}}},
       {kAnn, "s3:GetObject", "b/company-wide/f", false, {{"aws:PrincipalTag/team", {"red"}}}},
       {kAnn, "s3:ListBucket", "b", true}});
}

TEST(PublishedDecisionsTest, Tags) {
  Bucket(
      "S3, Tagging and access control policies: read objects with a tag",
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::111122223333:role/JohnDoe"]},"Action":["s3:GetObject","s3:GetObjectVersion"],"Resource":"arn:aws:s3:::b/*","Condition":{"StringEquals":{"s3:ExistingObjectTag/environment":"production"}}})",
      {{kRole, "s3:GetObject", "b/k", true, {{"s3:ExistingObjectTag/environment", {"production"}}}},
       {kRole,
        "s3:GetObjectVersion",
        "b/k",
        true,
        {{"s3:ExistingObjectTag/environment", {"production"}}}},
       {kRole, "s3:GetObject", "b/k", false, {{"s3:ExistingObjectTag/environment", {"test"}}}},
       {kRole, "s3:GetObject", "b/k", false},
       {kRole,
        "s3:PutObject",
        "b/k",
        false,
        {{"s3:ExistingObjectTag/environment", {"production"}}}},
       {kAnn,
        "s3:GetObject",
        "b/k",
        false,
        {{"s3:ExistingObjectTag/environment", {"production"}}}}});
  Bucket(
      "S3, Tagging and access control policies: restrict the tag keys",
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::111122223333:role/JohnDoe"]},"Action":["s3:PutObjectTagging"],"Resource":["arn:aws:s3:::b/*"],"Condition":{"ForAnyValue:StringEquals":{"s3:RequestObjectTagKeys":["Owner","CreationDate"]}}})",
      {{kRole, "s3:PutObjectTagging", "b/k", true, {{"s3:RequestObjectTagKeys", {"Owner"}}}},
       {kRole,
        "s3:PutObjectTagging",
        "b/k",
        true,
        {{"s3:RequestObjectTagKeys", {"x", "CreationDate"}}}},
       {kRole, "s3:PutObjectTagging", "b/k", false, {{"s3:RequestObjectTagKeys", {"x", "y"}}}},
       {kRole, "s3:PutObjectTagging", "b/k", false}});
  Bucket(
      "S3, Tagging and access control policies: allowed tag keys only",
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::111122223333:role/JohnDoe"]},"Action":["s3:PutObjectTagging"],"Resource":["arn:aws:s3:::b/*"],"Condition":{"ForAllValues:StringLike":{"s3:RequestObjectTagKeys":["Owner","CreationDate"]}}})",
      {{kRole,
        "s3:PutObjectTagging",
        "b/k",
        true,
        {{"s3:RequestObjectTagKeys", {"Owner", "CreationDate"}}}},
       {kRole, "s3:PutObjectTagging", "b/k", false, {{"s3:RequestObjectTagKeys", {"Owner", "x"}}}},
       {kRole, "s3:PutObjectTagging", "b/k", true}});
  Bucket(
      "S3, Tagging and access control policies: require a tag",
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::111122223333:user/Ann"]},"Action":["s3:PutObject"],"Resource":["arn:aws:s3:::b/*"],"Condition":{"StringEquals":{"s3:RequestObjectTag/Department":"Finance"}}})",
      {{kAnn, "s3:PutObject", "b/k", true, {{"s3:RequestObjectTag/Department", {"Finance"}}}},
       {kAnn, "s3:PutObject", "b/k", false, {{"s3:RequestObjectTag/Department", {"finance"}}}},
       {kAnn, "s3:PutObject", "b/k", false}});
  User(
      "IAM, Controlling access to AWS resources using tags: the user's own tag",
      R"({"Effect":"Allow","Action":"s3:GetObject","Resource":"*","Condition":{"StringEquals":{"s3:ExistingObjectTag/team":"${aws:PrincipalTag/team}"}}})",
      {{kAnn,
        "s3:GetObject",
        "b/k",
        true,
        {{"s3:ExistingObjectTag/team", {"red"}}, {"aws:PrincipalTag/team", {"red"}}}},
       {kAnn,
        "s3:GetObject",
        "b/k",
        false,
        {{"s3:ExistingObjectTag/team", {"blue"}}, {"aws:PrincipalTag/team", {"red"}}}},
       {kAnn, "s3:GetObject", "b/k", false, {{"s3:ExistingObjectTag/team", {"red"}}}}});
}

TEST(PublishedDecisionsTest, ConditionalWritesAndDeletes) {
  constexpr std::string_view kIfNoneMatch =
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:if-none-match":"false"}}},
         {"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Bool":{"s3:ObjectCreationOperation":"false"}}})";
  Bucket("S3, Enforce conditional writes: if-none-match", kIfNoneMatch,
         {{kAnn,
           "s3:PutObject",
           "b/k",
           true,
           {{"s3:if-none-match", {"*"}}, {"s3:ObjectCreationOperation", {"true"}}}},
          {kAnn, "s3:PutObject", "b/k", false, {{"s3:ObjectCreationOperation", {"true"}}}},
          {kAnn, "s3:PutObject", "b/k", true, {{"s3:ObjectCreationOperation", {"false"}}}},
          {kAnn,
           "s3:PutObject",
           "b/k",
           false,
           {{"s3:if-match", {"\"e\""}}, {"s3:ObjectCreationOperation", {"true"}}}},
          {kPartner, "s3:PutObject", "b/k", false, {{"s3:if-none-match", {"*"}}}}});
  Bucket(
      "S3, Enforce conditional writes: if-match or if-none-match is required",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:if-none-match":"true","s3:if-match":"true"},"Bool":{"s3:ObjectCreationOperation":"true"}}})",
      {{kOwner, "s3:PutObject", "b/k", false, {{"s3:ObjectCreationOperation", {"true"}}}},
       {kOwner,
        "s3:PutObject",
        "b/k",
        true,
        {{"s3:ObjectCreationOperation", {"true"}}, {"s3:if-match", {"\"e\""}}}},
       {kOwner,
        "s3:PutObject",
        "b/k",
        true,
        {{"s3:ObjectCreationOperation", {"true"}}, {"s3:if-none-match", {"*"}}}},
       {kOwner, "s3:PutObject", "b/k", true, {{"s3:ObjectCreationOperation", {"false"}}}}});
  constexpr std::string_view kDelete =
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:DeleteObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:if-match":"false"}}},
         {"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"})";
  Bucket("S3, Enforce conditional deletes: if-match with an ETag", kDelete,
         {{kAnn, "s3:DeleteObject", "b/k", true, {{"s3:if-match", {"\"e\""}}}},
          {kAnn, "s3:DeleteObject", "b/k", false},
          {kAnn, "s3:GetObject", "b/k", true},
          {kAnn, "s3:DeleteObjectVersion", "b/k", false, {{"s3:if-match", {"\"e\""}}}}});
}

TEST(PublishedDecisionsTest, MoreConditionKeysOfS3) {
  constexpr std::string_view kCopy =
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":["s3:PutObject"],"Resource":"arn:aws:s3:::b/*"},
         {"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"Null":{"s3:x-amz-copy-source":"false"}}},
         {"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"StringNotLike":{"s3:x-amz-copy-source":"source/public/*"}}})";
  constexpr std::string_view kSource =
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":["s3:PutObject"],"Resource":"arn:aws:s3:::b/*"},
         {"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::b/*","Condition":{"StringNotLikeIfExists":{"s3:x-amz-copy-source":"source/public/*"}}})";
  Bucket(
      "S3, Bucket policy examples using condition keys: no uploads, no copies", kCopy,
      {{kPartner, "s3:PutObject", "b/k", false},
       {kPartner, "s3:PutObject", "b/k", false, {{"s3:x-amz-copy-source", {"source/public/a"}}}}});
  Bucket("S3, Bucket policy examples using condition keys: copy source", kSource,
         {{kPartner, "s3:PutObject", "b/k", true, {{"s3:x-amz-copy-source", {"source/public/a"}}}},
          {kPartner, "s3:PutObject", "b/k", false}});
  Bucket(
      "S3, Bucket policy examples using condition keys: a version",
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:GetObjectVersion","Resource":"arn:aws:s3:::b/k"},{"Effect":"Deny","Principal":{"AWS":"arn:aws:iam::444455556666:user/Dave"},"Action":"s3:GetObjectVersion","Resource":"arn:aws:s3:::b/k","Condition":{"StringNotEquals":{"s3:VersionId":"v1"}}})",
      {{kPartner, "s3:GetObjectVersion", "b/k", true, {{"s3:VersionId", {"v1"}}}},
       {kPartner, "s3:GetObjectVersion", "b/k", false, {{"s3:VersionId", {"v2"}}}},
       {kPartner, "s3:GetObject", "b/k", false}});
  Bucket(
      "S3, Bucket policy examples using condition keys: storage class",
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::444455556666:root"},"Action":"s3:PutObject","Resource":["arn:aws:s3:::b/*"],"Condition":{"StringEquals":{"s3:x-amz-storage-class":["STANDARD_IA"]}}})",
      {{kPartner, "s3:PutObject", "b/k", true, {{"s3:x-amz-storage-class", {"STANDARD_IA"}}}},
       {kPartner, "s3:PutObject", "b/k", false, {{"s3:x-amz-storage-class", {"STANDARD"}}}},
       {kPartner, "s3:PutObject", "b/k", false}});
  Bucket(
      "S3, Bucket policy examples using condition keys: ownership controls",
      R"({"Effect":"Deny","Principal":"*","Action":["s3:CreateBucket","s3:PutBucketOwnershipControls"],"Resource":"*","Condition":{"StringNotEquals":{"s3:x-amz-object-ownership":"BucketOwnerEnforced"}}})",
      {{kOwner,
        "s3:PutBucketOwnershipControls",
        "b",
        true,
        {{"s3:x-amz-object-ownership", {"BucketOwnerEnforced"}}}},
       {kOwner,
        "s3:PutBucketOwnershipControls",
        "b",
        false,
        {{"s3:x-amz-object-ownership", {"ObjectWriter"}}}},
       {kOwner, "s3:CreateBucket", "b", false}});
  Bucket(
      "S3, Authenticating requests: Signature Version 4 in headers only",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::b/*","Condition":{"StringNotEquals":{"s3:authType":"REST-HEADER"}}})",
      {{kOwner, "s3:GetObject", "b/k", true, {{"s3:authType", {"REST-HEADER"}}}},
       {kOwner, "s3:GetObject", "b/k", false, {{"s3:authType", {"REST-QUERY-STRING"}}}},
       {kOwner, "s3:GetObject", "b/k", false, {{"s3:authType", {"POST"}}}}});
  Bucket(
      "S3, Authenticating requests: age of presigned URLs",
      R"({"Effect":"Deny","Principal":{"AWS":"*"},"Action":"s3:*","Resource":"arn:aws:s3:::b/*","Condition":{"NumericGreaterThan":{"s3:signatureAge":"600000"}}})",
      {{kOwner, "s3:GetObject", "b/k", true, {{"s3:signatureAge", {"599999"}}}},
       {kOwner, "s3:GetObject", "b/k", true, {{"s3:signatureAge", {"600000"}}}},
       {kOwner, "s3:GetObject", "b/k", false, {{"s3:signatureAge", {"600001"}}}}});
  Bucket(
      "S3, Authenticating requests: no unsigned payloads",
      R"({"Effect":"Deny","Principal":{"AWS":"*"},"Action":"s3:*","Resource":"arn:aws:s3:::b/*","Condition":{"StringEquals":{"s3:x-amz-content-sha256":"UNSIGNED-PAYLOAD"}}})",
      {{kOwner, "s3:PutObject", "b/k", false, {{"s3:x-amz-content-sha256", {"UNSIGNED-PAYLOAD"}}}},
       {kOwner, "s3:PutObject", "b/k", true, {{"s3:x-amz-content-sha256", {"e3b0c442"}}}},
       {kOwner, "s3:PutObject", "b/k", true}});
  Bucket(
      "S3, Managing Object Lock: maximum retention",
      R"({"Effect":"Deny","Principal":"*","Action":["s3:PutObjectRetention"],"Resource":"arn:aws:s3:::b/*","Condition":{"NumericGreaterThan":{"s3:object-lock-remaining-retention-days":"10"}}})",
      {{kOwner,
        "s3:PutObjectRetention",
        "b/k",
        true,
        {{"s3:object-lock-remaining-retention-days", {"10"}}}},
       {kOwner,
        "s3:PutObjectRetention",
        "b/k",
        false,
        {{"s3:object-lock-remaining-retention-days", {"11"}}}},
       {kOwner,
        "s3:PutObject",
        "b/k",
        true,
        {{"s3:object-lock-remaining-retention-days", {"11"}}}}});
  Bucket(
      "S3, Limiting access to buckets in certain accounts",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::*","Condition":{"StringNotEquals":{"s3:ResourceAccount":["111122223333"]}}})",
      {{kOwner, "s3:GetObject", "b/k", true, {{"s3:ResourceAccount", {"111122223333"}}}},
       {kOwner, "s3:GetObject", "b/k", false, {{"s3:ResourceAccount", {"444455556666"}}}}});
}

TEST(PublishedDecisionsTest, PrincipalsAndTime) {
  constexpr std::string_view kNotPrincipal =
      R"({"Effect":"Deny","NotPrincipal":{"AWS":["arn:aws:iam::111122223333:user/Ann","arn:aws:iam::111122223333:root"]},"Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"]},
         {"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/Ann"},"Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"]})";
  Bucket("IAM, NotPrincipal with Deny", kNotPrincipal,
         {{kAnn, "s3:GetObject", "b/k", true},
          {kOwner, "s3:GetObject", "b/k", true},
          {kPartner, "s3:GetObject", "b/k", false},
          {kRole, "s3:GetObject", "b/k", false},
          {kAnyone, "s3:GetObject", "b/k", false}});
  Bucket(
      "IAM, Principal: users by ARN",
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::111122223333:user/Ann","arn:aws:iam::444455556666:user/Dave"]},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"})",
      {{kAnn, "s3:GetObject", "b/k", true},
       {kPartner, "s3:GetObject", "b/k", true},
       {kRole, "s3:GetObject", "b/k", false},
       {kAnyone, "s3:GetObject", "b/k", false}});
  Bucket(
      "IAM, Principal: a role session",
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:sts::111122223333:assumed-role/JohnDoe/job"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"})",
      {{kRole, "s3:GetObject", "b/k", true}, {kAnn, "s3:GetObject", "b/k", false}});
  Bucket(
      "IAM, Principal: the account",
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"})",
      {{kAnn, "s3:GetObject", "b/k", false},
       {kRole, "s3:GetObject", "b/k", false},
       {kOwner, "s3:GetObject", "b/k", true},
       {kPartner, "s3:GetObject", "b/k", false}});
  Bucket(
      "S3, Examples of bucket policies: only the organization",
      R"({"Effect":"Allow","Principal":{"AWS":"*"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*","Condition":{"StringEquals":{"aws:PrincipalOrgID":["o-aa111bb222"]}}})",
      {{kPartner, "s3:GetObject", "b/k", true, {{"aws:PrincipalOrgID", {"o-aa111bb222"}}}},
       {kPartner, "s3:GetObject", "b/k", false, {{"aws:PrincipalOrgID", {"o-other"}}}},
       {kAnyone, "s3:GetObject", "b/k", false}});
  Bucket(
      "IAM, ArnLike: roles of a path",
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::b/*","Condition":{"ArnNotLike":{"aws:PrincipalArn":["arn:aws:iam::111122223333:role/team/*","arn:aws:iam::111122223333:root"]}}})",
      {{kOwner,
        "s3:GetObject",
        "b/k",
        true,
        {{"aws:PrincipalArn", {"arn:aws:iam::111122223333:root"}}}},
       {kOwner,
        "s3:GetObject",
        "b/k",
        true,
        {{"aws:PrincipalArn", {"arn:aws:iam::111122223333:role/team/a"}}}},
       {kOwner,
        "s3:GetObject",
        "b/k",
        false,
        {{"aws:PrincipalArn", {"arn:aws:iam::111122223333:role/other"}}}}});
  User(
      "IAM, AWS: allows access based on date and time",
      R"({"Effect":"Allow","Action":"s3:GetObject","Resource":"*","Condition":{"DateGreaterThan":{"aws:CurrentTime":"2026-04-01T00:00:00Z"},"DateLessThan":{"aws:CurrentTime":"2026-06-30T23:59:59Z"}}})",
      {{kAnn, "s3:GetObject", "b/k", true, {{"aws:CurrentTime", {"2026-05-01T12:00:00Z"}}}},
       {kAnn, "s3:GetObject", "b/k", false, {{"aws:CurrentTime", {"2026-04-01T00:00:00Z"}}}},
       {kAnn, "s3:GetObject", "b/k", false, {{"aws:CurrentTime", {"2026-07-01T00:00:00Z"}}}}});
  User(
      "IAM, AWS: denies access based on the requested Region",
      R"({"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","NotAction":["iam:*","support:*"],"Resource":"*","Condition":{"StringNotEquals":{"aws:RequestedRegion":["eu-central-1","eu-west-1"]}}})",
      {{kAnn, "s3:GetObject", "b/k", true, {{"aws:RequestedRegion", {"eu-west-1"}}}},
       {kAnn, "s3:GetObject", "b/k", false, {{"aws:RequestedRegion", {"us-east-1"}}}}});
  User(
      "IAM, AWS: multi-factor authentication with BoolIfExists",
      R"({"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","Action":"s3:DeleteObject","Resource":"*","Condition":{"BoolIfExists":{"aws:MultiFactorAuthPresent":"false"}}})",
      {{kAnn, "s3:DeleteObject", "b/k", false},
       {kAnn, "s3:DeleteObject", "b/k", false, {{"aws:MultiFactorAuthPresent", {"false"}}}},
       {kAnn, "s3:DeleteObject", "b/k", true, {{"aws:MultiFactorAuthPresent", {"true"}}}},
       {kAnn, "s3:GetObject", "b/k", true}});
}

TEST(PublishedDecisionsTest, IdentityPolicies) {
  constexpr std::string_view kOneBucket =
      R"({"Effect":"Allow","Action":"s3:ListAllMyBuckets","Resource":"*"},
         {"Effect":"Allow","Action":["s3:ListBucket","s3:GetBucketLocation"],"Resource":"arn:aws:s3:::b"},
         {"Effect":"Allow","Action":["s3:PutObject","s3:PutObjectAcl","s3:GetObject","s3:GetObjectAcl","s3:DeleteObject"],"Resource":"arn:aws:s3:::b/*"})";
  User("S3, Identity-based policy examples: access to one bucket", kOneBucket,
       {{kAnn, "s3:ListAllMyBuckets", "*", true},
        {kAnn, "s3:ListBucket", "b", true},
        {kAnn, "s3:ListBucket", "c", false},
        {kAnn, "s3:PutObject", "b/k", true},
        {kAnn, "s3:GetObjectAcl", "b/k", true},
        {kAnn, "s3:DeleteObject", "b/k", true},
        {kAnn, "s3:DeleteObjectVersion", "b/k", false},
        {kAnn, "s3:GetObject", "c/k", false},
        {kAnn, "s3:DeleteBucket", "b", false}});
  User(
      "S3, Identity-based policy examples: each user a folder",
      R"({"Effect":"Allow","Action":["s3:PutObject","s3:GetObject","s3:GetObjectVersion","s3:DeleteObject","s3:DeleteObjectVersion"],"Resource":"arn:aws:s3:::b/${aws:username}/*"})",
      {{kAnn, "s3:PutObject", "b/Ann/f", true, {{"aws:username", {"Ann"}}}},
       {kAnn, "s3:PutObject", "b/Bob/f", false, {{"aws:username", {"Ann"}}}},
       {kAnn, "s3:DeleteObjectVersion", "b/Ann/f", true, {{"aws:username", {"Ann"}}}},
       {kAnn, "s3:GetObjectAcl", "b/Ann/f", false, {{"aws:username", {"Ann"}}}}});
  User("S3, Identity-based policy examples: partners drop files in one folder",
       R"({"Effect":"Allow","Action":"s3:PutObject","Resource":"arn:aws:s3:::b/uploads/*"})",
       {{kAnn, "s3:PutObject", "b/uploads/f", true},
        {kAnn, "s3:PutObject", "b/other/f", false},
        {kAnn, "s3:GetObject", "b/uploads/f", false}});
  User(
      "IAM, Amazon S3: restricts management to a specific bucket",
      R"({"Effect":"Allow","Action":"s3:*","Resource":["arn:aws:s3:::b","arn:aws:s3:::b/*"]},{"Effect":"Deny","NotAction":"s3:*","NotResource":["arn:aws:s3:::b","arn:aws:s3:::b/*"]})",
      {{kAnn, "s3:GetObject", "b/k", true},
       {kAnn, "s3:DeleteBucket", "b", true},
       {kAnn, "s3:GetObject", "c/k", false}});
  User(
      "IAM, Amazon S3: read and write access to the objects of a bucket",
      R"({"Effect":"Allow","Action":["s3:ListBucket"],"Resource":["arn:aws:s3:::b"]},{"Effect":"Allow","Action":"s3:*Object","Resource":["arn:aws:s3:::b/*"]})",
      {{kAnn, "s3:GetObject", "b/k", true},
       {kAnn, "s3:PutObject", "b/k", true},
       {kAnn, "s3:DeleteObject", "b/k", true},
       {kAnn, "s3:GetObjectVersion", "b/k", false},
       {kAnn, "s3:PutObjectAcl", "b/k", false},
       {kAnn, "s3:ListBucket", "b", true}});
  User(
      "IAM, Policies and permissions: explicit deny overrides",
      R"({"Effect":"Allow","Action":"s3:*","Resource":"*"},{"Effect":"Deny","Action":"s3:DeleteBucket","Resource":"arn:aws:s3:::b"})",
      {{kAnn, "s3:DeleteBucket", "b", false},
       {kAnn, "s3:DeleteBucket", "c", true},
       {kAnn, "s3:GetObject", "b/k", true}});
}

// Runs last: the decisions of a whole run.
TEST(PublishedDecisionsTest, ThereAreAtLeastTwoHundred) {
  if (decisions == 0) GTEST_SKIP() << "the other tests did not run";
  EXPECT_GE(decisions, 200);
}

}  // namespace
}  // namespace penstock::emulator::policy
