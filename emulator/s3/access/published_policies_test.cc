// Policies that AWS's documentation publishes or describes for buckets. All must be accepted. They
// are written anew: names, values and the number of statements differ. The elements, the actions
// with their kinds of resources, and the operators with their keys are those of the source.
#include <gtest/gtest.h>

#include "emulator/policy/document.h"
#include "emulator/s3/access/policy.h"
#include "emulator/s3/access/policy_test_support.h"

namespace penstock::emulator::s3 {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): helpers of this test.

struct Published {
  std::string_view source;
  std::string policy;
  std::string_view bucket = "bucket";
};

void ExpectAccepted(const std::vector<Published>& policies) {
  for (const Published& one : policies) {
    const auto checked = CheckPolicy(one.policy, one.bucket);
    EXPECT_TRUE(checked.ok()) << one.source << ": " << checked.error().message << "\n"
                              << one.policy;
    EXPECT_TRUE(policy::ParseResourcePolicy(one.policy).ok()) << one.source;
  }
}

std::string Service(std::string_view name) { return R"({"Service":")" + std::string(name) + "\"}"; }

constexpr std::string_view kDestination = "arn:aws:s3:::bucket/prefix/AWSLogs/111122223333/*";

TEST(PublishedPoliciesTest, ExamplesOfAmazonS3BucketPolicies) {
  ExpectAccepted({
      {"require SSE-KMS",
       Policy(Deny("*", "s3:PutObject", kObjects,
                   R"({"Null":{"s3:x-amz-server-side-encryption-aws-kms-key-id":"true"}})"))},
      {"require SSE-KMS with one key",
       Policy(Deny("*", "s3:PutObject", kObjects,
                   R"({"ArnNotEqualsIfExists":{"s3:x-amz-server-side-encryption-aws-kms-key-id":)"
                   R"("arn:aws:kms:us-east-2:111122223333:key/0123"}})"))},
      {"canned ACL for public access",
       Policy(
           Allow(R"({"AWS":["arn:aws:iam::111122223333:root","arn:aws:iam::444455556666:root"]})",
                 R"(["s3:PutObject","s3:PutObjectAcl"])", kObjects,
                 R"({"StringEquals":{"s3:x-amz-acl":["public-read"]}})"))},
      {"bucket owner has full control",
       Policy(Allow(kAccount, "s3:PutObject", kObjects,
                    R"({"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control"}})"))},
      {"read objects with a tag",
       Policy(Allow(R"({"AWS":["arn:aws:iam::111122223333:role/JohnDoe"]})",
                    R"(["s3:GetObject","s3:GetObjectVersion"])", kObjects,
                    R"({"StringEquals":{"s3:ExistingObjectTag/environment":"production"}})"))},
      {"restrict tag keys",
       Policy(Allow(
           kUser, R"(["s3:PutObjectTagging"])", kObjects,
           R"({"ForAnyValue:StringEquals":{"s3:RequestObjectTagKeys":["Owner","Created"]}})"))},
      {"require a tag", Policy(Allow(kUser, R"(["s3:PutObjectTagging"])", kObjects,
                                     R"({"StringEquals":{"s3:RequestObjectTag/Project":"X"}})"))},
      {"add objects with a tag",
       Policy(Allow(kUser, R"(["s3:PutObject"])", kObjects,
                    R"({"StringEquals":{"s3:RequestObjectTag/Department":"Finance"}})"))},
      {"access log deliveries",
       Policy(Allow(Service("logging.s3.amazonaws.com"), "s3:PutObject", kObjects,
                    R"({"StringEquals":{"aws:SourceAccount":"111111111111"},)"
                    R"("ArnLike":{"aws:SourceArn":"arn:aws:s3:::source"}})") +
              "," +
              Deny("*", "s3:PutObject", kObjects,
                   R"({"ForAllValues:StringNotEquals":{"aws:PrincipalServiceNamesList":)"
                   R"("logging.s3.amazonaws.com"}})"))},
      {"only the organization",
       Policy(Allow(R"({"AWS":"*"})", "s3:GetObject", kObjects,
                    R"({"StringEquals":{"aws:PrincipalOrgID":["o-aa111bb222"]}})"))},
      {"IP addresses",
       Policy(Deny("*", "s3:*", kBoth, R"({"NotIpAddress":{"aws:SourceIp":"192.0.2.0/24"}})"))},
      {"IPv4 and IPv6",
       Policy(Allow(
           "*", "s3:*", kBoth,
           R"({"IpAddress":{"aws:SourceIp":["192.0.2.0/24","2001:DB8:1234:5678::/64"]},)"
           R"("NotIpAddress":{"aws:SourceIp":["203.0.113.0/24","2001:DB8:1234:5678:ABCD::/80"]}})"))},
      {"only HTTPS",
       Policy(Deny("*", "s3:*", kBoth, R"({"Bool":{"aws:SecureTransport":"false"}})"))},
      {"HTTP referer",
       Policy(Allow("*", R"(["s3:GetObject","s3:GetObjectVersion"])", kObjects,
                    R"({"StringLike":{"aws:Referer":["http://www.example.com/*"]}})"))},
      {"folders",
       Policy(
           Allow(kUser, R"(["s3:ListBucket"])", kBucketArn,
                 R"({"StringEquals":{"s3:prefix":["","home/","home/Ann"],"s3:delimiter":["/"]}})") +
           "," +
           Allow(kUser, R"(["s3:ListBucket"])", kBucketArn,
                 R"({"StringLike":{"s3:prefix":["home/Ann/*"]}})") +
           "," + Allow(kUser, R"(["s3:*"])", R"(["arn:aws:s3:::bucket/home/Ann/*"])"))},
      {"load balancer's account",
       Policy(Allow(R"({"AWS":"arn:aws:iam::127311923021:root"})", "s3:PutObject", kDestination))},
      {"load balancer's service",
       Policy(Allow(Service("logdelivery.elasticloadbalancing.amazonaws.com"), "s3:PutObject",
                    kDestination))},
      {"CloudFront origin access identity",
       Policy(
           Allow(R"({"AWS":"arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E1"})",
                 "s3:GetObject", kObjects))},
      {"Storage Lens",
       Policy(Allow(Service("storage-lens.s3.amazonaws.com"), "s3:PutObject", kObjects,
                    R"({"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control",)"
                    R"("aws:SourceAccount":"111122223333",)"
                    R"("aws:SourceArn":"arn:aws:s3:us-east-1:111122223333:storage-lens/id"}})"))},
      {"Storage Lens, edition of 2021, with a member three times",
       Policy(
           Allow(Service("storage-lens.s3.amazonaws.com"), "s3:PutObject", kObjects,
                 R"({"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control"},)"
                 R"("StringEquals":{"aws:SourceAccount":"111122223333"},)"
                 R"("StringEquals":{"aws:SourceArn":"arn:aws:s3:us-east-1:111122223333:x/y"}})"))},
      {"inventory and analytics",
       Policy(Allow(Service("s3.amazonaws.com"), "s3:PutObject", R"(["arn:aws:s3:::bucket/*"])",
                    R"({"ArnLike":{"aws:SourceArn":"arn:aws:s3:::source"},)"
                    R"("StringEquals":{"aws:SourceAccount":"111122223333",)"
                    R"("s3:x-amz-acl":"bucket-owner-full-control"}})"))},
      {"inventory report",
       Policy(
           Allow(kUser, R"(["s3:ListBucket"])", kBoth) + "," +
           Allow(kUser, R"(["s3:GetObject"])", "arn:aws:s3:::bucket/inventory/*") + "," +
           Deny(R"({"AWS":"*"})", R"(["s3:GetObject"])", "arn:aws:s3:::bucket/inventory/*",
                R"({"ArnNotEquals":{"aws:PrincipalArn":"arn:aws:iam::111122223333:user/Ann"}})"))},
      {"fields of an inventory",
       Policy(Allow(kUser, "s3:PutInventoryConfiguration", kBucketArn,
                    R"({"ForAllValues:StringEquals":{"s3:InventoryAccessibleOptionalFields":)"
                    R"(["Size","StorageClass"]}})"))},
      {"MFA", Policy(Deny("*", "s3:*", "arn:aws:s3:::bucket/taxdocuments/*",
                          R"({"Null":{"aws:MultiFactorAuthAge":true}})"))},
      {"MFA not older than an hour",
       Policy(Deny("*", "s3:*", "arn:aws:s3:::bucket/taxdocuments/*",
                   R"({"NumericGreaterThan":{"aws:MultiFactorAuthAge":3600}})") +
              "," + Allow("*", R"(["s3:GetObject"])", kObjects))},
  });
}

TEST(PublishedPoliciesTest, BucketPolicyExamplesUsingConditionKeys) {
  ExpectAccepted({
      {"addresses with an exception",
       Policy(Allow("*", "s3:GetObject", kObjects,
                    R"({"IpAddress":{"aws:SourceIp":"192.0.2.0/24"},)"
                    R"("NotIpAddress":{"aws:SourceIp":"192.0.2.188/32"}})"))},
      {"require full control",
       Policy(Deny(kUser, "s3:PutObject", kObjects,
                   R"({"StringNotEquals":{"s3:x-amz-grant-full-control":"id=A"}})"))},
      {"require server-side encryption",
       Policy(Deny(kUser, "s3:PutObject", kObjects,
                   R"({"StringNotEquals":{"s3:x-amz-server-side-encryption":"AES256"}})"))},
      {"copy source",
       Policy(Allow(kUser, "s3:PutObject", kObjects) + "," +
              Deny(kUser, "s3:PutObject", kObjects,
                   R"({"StringNotLike":{"s3:x-amz-copy-source":"bucket/public/*"}})"))},
      {"one version", Policy(Deny(kUser, "s3:GetObjectVersion", "arn:aws:s3:::bucket/HappyFace.jpg",
                                  R"({"StringNotEquals":{"s3:VersionId":"AaaHbAQitwiL"}})"))},
      {"storage class",
       Policy(Allow(kUser, "s3:PutObject", kObjects,
                    R"({"StringEquals":{"s3:x-amz-storage-class":["STANDARD_IA"]}})"))},
      {"prefix", Policy(Allow(kUser, "s3:ListBucket", kBucketArn,
                              R"({"StringEquals":{"s3:prefix":"projects"}})") +
                        "," +
                        Deny(kUser, "s3:ListBucket", kBucketArn,
                             R"({"StringNotEquals":{"s3:prefix":"projects"}})"))},
      {"prefix of versions: \"also supports the s3:prefix condition key\"",
       Policy(Allow(kUser, "s3:ListBucketVersions", kBucketArn,
                    R"({"StringEquals":{"s3:prefix":"projects"}})"))},
      {"number of keys", Policy(Deny(kUser, "s3:ListBucket", kBucketArn,
                                     R"({"NumericGreaterThan":{"s3:max-keys":"10"}})"))},
      {"TLS version",
       Policy(Deny("*", "s3:GetObject", kBoth, R"({"NumericLessThan":{"s3:TlsVersion":1.2}})"))},
      {"TLS version of uploads",
       Policy(Deny("*", "s3:PutObject", kBoth, R"({"NumericLessThan":{"s3:TlsVersion":1.2}})"))},
      {"Region of new buckets, with a principal",
       Policy(Deny(kUser, "s3:CreateBucket", "arn:aws:s3:::*",
                   R"({"StringNotLike":{"s3:LocationConstraint":"sa-east-1"}})"))},
      {"conditional writes",
       Policy(Allow(kUser, "s3:PutObject", kObjects, R"({"Null":{"s3:if-none-match":"false"}})") +
              "," +
              Allow(kUser, "s3:PutObject", kObjects,
                    R"({"Bool":{"s3:ObjectCreationOperation":"false"}})"))},
      {"conditional writes of known objects",
       Policy(Allow(kUser, "s3:PutObject", kObjects, R"({"Null":{"s3:if-match":"false"}})"))},
  });
}

TEST(PublishedPoliciesTest, OtherPagesOfTheUserGuide) {
  constexpr std::string_view kObjectActions =
      R"(["s3:AbortMultipartUpload","s3:BypassGovernanceRetention","s3:DeleteObject",)"
      R"("s3:DeleteObjectTagging","s3:DeleteObjectVersion","s3:DeleteObjectVersionTagging",)"
      R"("s3:GetObject","s3:GetObjectAcl","s3:GetObjectLegalHold","s3:GetObjectRetention",)"
      R"("s3:GetObjectTagging","s3:GetObjectVersion","s3:GetObjectVersionAcl",)"
      R"("s3:GetObjectVersionTagging","s3:ListMultipartUploadParts","s3:PutObject",)"
      R"("s3:PutObjectAcl","s3:PutObjectLegalHold","s3:PutObjectRetention","s3:PutObjectTagging",)"
      R"("s3:PutObjectVersionAcl","s3:PutObjectVersionTagging","s3:RestoreObject"])";
  const std::string canonical = R"({"CanonicalUser":[")" + std::string(64, 'a') + "\"]}";
  ExpectAccepted({
      {"VPC endpoint", Policy(Deny("*", "s3:*", kBoth,
                                   R"({"StringNotEquals":{"aws:SourceVpce":"vpce-1a2b3c4d"}})"))},
      {"VPC",
       Policy(Deny("*", "s3:*", kBoth, R"({"StringNotEquals":{"aws:SourceVpc":"vpc-111bbb22"}})"))},
      {"Tagging and access control, 1",
       Policy(Allow("*", "s3:GetObject", kObjects,
                    R"({"StringEquals":{"s3:ExistingObjectTag/security":"public"}})"))},
      {"Tagging and access control, 2",
       Policy(Allow(canonical, R"(["s3:PutObjectTagging"])", kObjects,
                    R"({"ForAllValues:StringLike":{"s3:RequestObjectTagKeys":["Owner"]}})"))},
      {"Tagging and access control, 3",
       Policy(Allow(kUser, R"(["s3:PutObjectTagging"])", kObjects,
                    R"({"ForAllValues:StringLike":{"s3:RequestObjectTagKeys":["Owner"]},)"
                    R"("ForAnyValue:StringLike":{"s3:RequestObjectTagKeys":["Owner"]}})"))},
      {"delegation to access points",
       Policy(Allow(R"({"AWS":"*"})", "*", kBoth,
                    R"({"StringEquals":{"s3:DataAccessPointAccount":"111122223333"}})"))},
      {"grant beside an access point's policy",
       Policy(Allow(kUser, R"(["s3:GetObject","s3:PutObject"])", "arn:aws:s3:::bucket/Ann/*"))},
      {"access points in a VPC",
       Policy(Deny("*", kObjectActions, kObjects,
                   R"({"StringNotEquals":{"s3:AccessPointNetworkOrigin":"VPC"}})"))},
      {"Object Ownership",
       Policy(Allow(R"({"AWS":["arn:aws:iam::111122223333:user/Ann"]})", R"(["s3:PutObject"])",
                    kObjects, R"({"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control"}})"))},
      {"retention limits",
       Policy(Deny("*", R"(["s3:PutObjectRetention"])", kObjects,
                   R"({"NumericGreaterThan":{"s3:object-lock-remaining-retention-days":"10"}})"))},
      {"SSE-KMS",
       Policy(Deny("*", "s3:PutObject", kObjects,
                   R"({"StringNotEquals":{"s3:x-amz-server-side-encryption":"aws:kms"}})"))},
      {"require SSE-C",
       Policy(Deny("*", "s3:PutObject", kObjects,
                   R"({"Null":{"s3:x-amz-server-side-encryption-customer-algorithm":"true"}})"))},
      {"refuse SSE-C",
       Policy(Deny("*", "s3:PutObject", kObjects,
                   R"({"Null":{"s3:x-amz-server-side-encryption-customer-algorithm":"false"}})"))},
      {"website", Policy(Allow("*", R"(["s3:GetObject"])", R"(["arn:aws:s3:::bucket/*"])"))},
      {"replication: destination bucket",
       Policy(Allow(R"({"AWS":"arn:aws:iam::111122223333:role/service-role/source"})",
                    R"(["s3:ReplicateDelete","s3:ReplicateObject"])", kObjects) +
              "," +
              Allow(R"({"AWS":"arn:aws:iam::111122223333:role/service-role/source"})",
                    R"(["s3:List*","s3:GetBucketVersioning","s3:PutBucketVersioning"])",
                    kBucketArn))},
      {"replication: owner", Policy(Allow(R"({"AWS":"111122223333"})",
                                          R"(["s3:ObjectOwnerOverrideToBucketOwner"])", kObjects))},
      {"walkthrough 1",
       Policy(Allow(kUser, R"(["s3:GetBucketLocation","s3:ListBucket"])",
                    R"(["arn:aws:s3:::bucket"])") +
              "," + Allow(kUser, R"(["s3:GetObject"])", R"(["arn:aws:s3:::bucket/*"])"))},
      {"walkthrough 2", Policy(Allow(R"({"AWS":"arn:aws:iam::444455556666:root"})",
                                     R"(["s3:GetLifecycleConfiguration","s3:ListBucket"])",
                                     R"(["arn:aws:s3:::bucket"])") +
                               "," +
                               Deny(R"({"AWS":"arn:aws:iam::444455556666:root"})",
                                    R"(["s3:ListBucket"])", R"(["arn:aws:s3:::bucket"])"))},
      {"walkthrough 3",
       Policy(Allow(kAccount, R"(["s3:PutObject"])", kObjects) + "," +
              Deny(kAccount, R"(["s3:PutObject"])", kObjects,
                   R"({"StringNotEquals":{"s3:x-amz-acl":"bucket-owner-full-control"}})"))},
      {"presigned URLs", Policy(Deny(R"({"AWS":"444455556666"})", "s3:*", kObjects,
                                     R"({"NumericGreaterThan":{"s3:signatureAge":600000}})"))},
  });
}

TEST(PublishedPoliciesTest, ReferencesOfS3AndIam) {
  ExpectAccepted({
      {"API reference, PutBucketPolicy",
       R"({"Version":"2008-10-17","Id":"aaaa-bbbb","Statement":[{"Effect":"Allow","Sid":"1",)"
       R"("Principal":{"AWS":["111122223333","444455556666"]},"Action":["s3:*"],)"
       R"("Resource":"arn:aws:s3:::bucket/*"}]})"},
      {"API reference, policy keys of signatures: age",
       Policy(
           Deny("*", "s3:*", kObjects, R"({"NumericGreaterThan":{"s3:signatureAge":"600000"}})"))},
      {"API reference, policy keys of signatures: version and type",
       Policy(Allow("*", "s3:*", kObjects,
                    R"({"StringEquals":{"s3:signatureversion":"AWS4-HMAC-SHA256",)"
                    R"("s3:authType":"REST-QUERY-STRING"}})"))},
      {"API reference, policy keys of signatures: unsigned content",
       Policy(Deny("*", "s3:*", kObjects,
                   R"({"StringEquals":{"s3:x-amz-content-sha256":"UNSIGNED-PAYLOAD"}})"))},
      {"API reference, policy keys of signatures: only the header",
       Policy(Deny("*", "s3:*", kObjects, R"({"StringNotEquals":{"s3:authType":"REST-HEADER"}})"))},
      {"IAM, NotPrincipal",
       R"({"Version":"2012-10-17","Statement":[{"Effect":"Deny","NotPrincipal":{"AWS":[)"
       R"("arn:aws:iam::444455556666:user/Bob","arn:aws:iam::444455556666:root"]},)"
       R"("Action":"s3:*","Resource":["arn:aws:s3:::bucket","arn:aws:s3:::bucket/*"]}]})"},
      {"IAM, NotAction beside a resource",
       R"({"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"111122223333"},)"
       R"("NotAction":"s3:DeleteBucket","Resource":"arn:aws:s3:::bucket"}})"},
      {"IAM, NotResource",
       R"({"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"s3:*",)"
       R"("NotResource":["arn:aws:s3:::bucket/Payroll","arn:aws:s3:::bucket/Payroll/*"]}})"},
      {"IAM, keys of other services",
       Policy(
           Deny("*", "s3:*", kBoth,
                R"({"StringNotLike":{"ec2:SourceInstanceArn":"arn:aws:ec2:*"},)"
                R"("ArnNotEquals":{"lambda:SourceFunctionArn":"arn:aws:lambda:us-east-1:1:f"}})"))},
      {"IAM, policy variables",
       Policy(Allow(kAccount, "s3:*", "arn:aws:s3:::bucket/home/${aws:username}/*"))},
  });
}

TEST(PublishedPoliciesTest, DestinationsOfOtherServices) {
  const auto with_source = [](std::string_view acl) {
    return R"({"StringEquals":{)" + std::string(acl) +
           R"("AWS:SourceAccount":"111122223333"},"ArnLike":{"aws:SourceArn":"arn:aws:x:*:1:*"}})";
  };
  const std::string acl = R"("s3:x-amz-acl":"bucket-owner-full-control",)";
  ExpectAccepted({
      {"CloudTrail", Policy(Allow(Service("cloudtrail.amazonaws.com"), "s3:GetBucketAcl",
                                  kBucketArn, with_source("")) +
                            "," +
                            Allow(Service("cloudtrail.amazonaws.com"), "s3:PutObject", kDestination,
                                  with_source(acl)))},
      {"Config",
       Policy(
           Allow(Service("config.amazonaws.com"), "s3:GetBucketAcl", kBucketArn, with_source("")) +
           "," +
           Allow(Service("config.amazonaws.com"), "s3:ListBucket", kBucketArn, with_source("")) +
           "," +
           Allow(Service("config.amazonaws.com"), "s3:PutObject", kDestination, with_source(acl)))},
      {"VPC flow logs",
       Policy(Allow(Service("delivery.logs.amazonaws.com"), "s3:PutObject", kDestination,
                    with_source(acl)) +
              "," +
              Allow(Service("delivery.logs.amazonaws.com"),
                    R"(["s3:GetBucketAcl","s3:ListBucket"])", kBucketArn, with_source("")))},
      {"CloudWatch Logs", Policy(Allow(Service("logs.us-east-1.amazonaws.com"), "s3:GetBucketAcl",
                                       kBucketArn, with_source("")))},
      {"CloudFront origin access control",
       Policy(
           Allow(Service("cloudfront.amazonaws.com"), "s3:GetObject", kObjects,
                 R"({"StringEquals":{"AWS:SourceArn":"arn:aws:cloudfront::1:distribution/E"}})"))},
      {"SES",
       Policy(Allow(Service("ses.amazonaws.com"), "s3:PutObject", kObjects, with_source("")))},
      {"Redshift",
       Policy(Allow(Service("redshift.amazonaws.com"), R"(["s3:PutObject","s3:GetBucketAcl"])",
                    kBoth, R"({"StringEquals":{"aws:SourceArn":"arn:aws:redshift:x"}})"))},
      {"Macie", Policy(Allow(Service("macie.amazonaws.com"), "s3:GetBucketLocation", kBucketArn,
                             with_source("")))},
      {"GuardDuty",
       Policy(Deny(Service("guardduty.amazonaws.com"), "s3:PutObject", kObjects,
                   R"({"StringNotEquals":{"s3:x-amz-server-side-encryption":"aws:kms"}})"))},
  });
}

TEST(PublishedPoliciesTest, ExampleBucketPoliciesForDirectoryBuckets) {
  constexpr std::string_view kBucket = "base--usw2-az1--x-s3";
  constexpr std::string_view kArn =
      "arn:aws:s3express:us-west-2:111122223333:bucket/base--usw2-az1--x-s3";
  ExpectAccepted({
      {"ReadWrite",
       Policy(Allow(R"({"AWS":["arn:aws:iam::111122223333:root"]})",
                    R"(["s3express:CreateSession"])", kArn)),
       kBucket},
      {"ReadOnly",
       Policy(Allow(kAccount, "s3express:CreateSession", "*",
                    R"({"StringEquals":{"s3express:SessionMode":"ReadOnly"}})")),
       kBucket},
      {"another account",
       Policy(Allow(R"({"AWS":"444455556666"})", R"(["s3express:CreateSession"])", kArn)), kBucket},
      {"control operations",
       Policy(Allow(kAccount,
                    R"(["s3express:DeleteBucket","s3express:PutBucketPolicy","s3express:List*"])",
                    kArn, R"({"NumericLessThan":{"s3express:TlsVersion":1.3}})")),
       kBucket},
  });
}

}  // namespace
}  // namespace penstock::emulator::s3
