#include "emulator/s3/authorization/request_context.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

class RequestContextTest : public ::testing::Test {
 protected:
  RequestContextTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k\nx-amz-tagging: Team=red", "x");
    connection_.peer = "[::ffff:203.0.113.7]:4711";
    connection_.tls = true;
    connection_.tls_version = "1.3";
  }
  // The value of a key for a request, "<absent>" without one.
  std::string Find(std::string_view key, std::string_view target = "/bucket/k",
                   std::vector<HeaderView> headers = {}, const BodyKeys& body = {}) {
    RequestHead head{
        .method = "GET", .target = target, .minor_version = 1, .headers = std::move(headers)};
    Exchange exchange{head, connection_};
    exchange.space = std::make_shared<Namespace>(s3_.space());
    exchange.identity = identity_;
    exchange.target = ParseTarget(target, "127.0.0.1", {}).value();
    exchange.operation = operation_;
    exchange.form = form_;
    const RouterOptions options;
    Call call{exchange, options, *exchange.space->store, exchange.target.Has("X-Amz-Signature")};
    call.opened = exchange.space->store->FindBucket(BucketName("bucket")).value();
    const Subject subject{
        .bucket = call.opened.get(), .bucket_name = "bucket", .key = "k", .version = std::nullopt};
    const RequestContext context(call, subject, body);
    const auto values = context.Find(policy::ContextKey(key));
    if (!values) return "<absent>";
    std::string all;
    for (const std::string& value : *values) all += (all.empty() ? "" : ",") + value;
    return all;
  }

  testing::Harness s3_;
  Connection connection_;
  Identity identity_ = s3_.identity();
  std::string operation_ = "GetObject";
  const Form* form_ = nullptr;
};

TEST_F(RequestContextTest, GlobalKeys) {
  EXPECT_EQ(Find("aws:SourceIp"), "203.0.113.7");
  EXPECT_EQ(Find("aws:SecureTransport"), "true");
  EXPECT_EQ(Find("s3:TlsVersion"), "1.3");
  EXPECT_EQ(Find("aws:CurrentTime"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(Find("aws:EpochTime"), "1767323045");
  EXPECT_EQ(Find("aws:UserAgent", "/bucket/k", {{"User-Agent", "test"}}), "test");
  EXPECT_EQ(Find("aws:referer"), "<absent>");
  EXPECT_EQ(Find("aws:RequestedRegion"), "us-east-1");
  EXPECT_EQ(Find("aws:ResourceAccount"), "123456789012");
  EXPECT_EQ(Find("aws:unknown"), "<absent>");
}

// IAM User Guide, "AWS global condition context keys": keys of temporary credentials.
TEST_F(RequestContextTest, KeysOfTemporaryCredentials) {
  EXPECT_EQ(Find("aws:TokenIssueTime"), "<absent>");
  EXPECT_EQ(Find("aws:MultiFactorAuthPresent"), "<absent>");
  identity_.temporary = true;
  EXPECT_EQ(Find("aws:TokenIssueTime"), "<absent>") << "unknown";
  EXPECT_EQ(Find("aws:MultiFactorAuthPresent"), "false");
  EXPECT_EQ(Find("aws:MultiFactorAuthAge"), "<absent>");
  identity_.issued = WallTime(std::chrono::seconds(1'767'323'045));
  EXPECT_EQ(Find("aws:TokenIssueTime"), "2026-01-02T03:04:05.000Z");
}

TEST_F(RequestContextTest, TagsOfPrincipals) {
  EXPECT_EQ(Find("aws:PrincipalTag/team"), "<absent>");
  auto policies = std::make_shared<policy::PrincipalPolicies>();
  policies->tags = {{"team", "red"}, {"empty", ""}};
  identity_.policies = std::move(policies);
  EXPECT_EQ(Find("aws:PrincipalTag/team"), "red");
  EXPECT_EQ(Find("AWS:principaltag/Team"), "red") << "case does not count";
  EXPECT_EQ(Find("aws:PrincipalTag/empty"), "");
  EXPECT_EQ(Find("aws:PrincipalTag/other"), "<absent>");
  EXPECT_EQ(Find("aws:PrincipalTag/"), "<absent>");
}

// docs/reference/condition-keys.md lists them.
TEST_F(RequestContextTest, KeysThatAreNeverPresent) {
  for (const char* const key :
       {"aws:PrincipalOrgID", "aws:PrincipalOrgPaths", "aws:SourceVpc", "aws:SourceVpce",
        "aws:VpcSourceIp", "aws:SourceArn", "aws:SourceAccount", "aws:SourceIdentity",
        "aws:FederatedProvider", "aws:CalledVia", "aws:ResourceTag/team", "aws:RequestTag/team",
        "aws:TagKeys", "aws:ResourceOrgID", "s3:DataAccessPointArn", "s3:BucketTag/team"})
    EXPECT_EQ(Find(key), "<absent>") << key;
}

TEST_F(RequestContextTest, Principals) {
  EXPECT_EQ(Find("aws:PrincipalType"), "Account");
  EXPECT_EQ(Find("aws:userid"), "123456789012");
  EXPECT_EQ(Find("aws:username"), "<absent>");
  identity_.user_name = "ann";
  identity_.arn = "arn:aws:iam::123456789012:user/ann";
  identity_.user_id = "AIDAANN";
  EXPECT_EQ(Find("aws:PrincipalType"), "User");
  EXPECT_EQ(Find("aws:username"), "ann");
  EXPECT_EQ(Find("aws:userid"), "AIDAANN");
  EXPECT_EQ(Find("aws:PrincipalArn"), "arn:aws:iam::123456789012:user/ann");
  identity_.role_arn = "arn:aws:iam::123456789012:role/r";
  EXPECT_EQ(Find("aws:PrincipalArn"), "arn:aws:iam::123456789012:role/r");
  EXPECT_EQ(Find("aws:PrincipalType"), "AssumedRole");
  EXPECT_EQ(Find("aws:username"), "<absent>") << "sessions of roles have no user name";
  EXPECT_EQ(Find("aws:PrincipalIsAWSService"), "false");
  identity_ = {};
  EXPECT_EQ(Find("aws:PrincipalType"), "Anonymous");
  EXPECT_EQ(Find("aws:PrincipalAccount"), "anonymous");
  EXPECT_EQ(Find("aws:PrincipalArn"), "<absent>");
  EXPECT_EQ(Find("s3:authType"), "<absent>");
}

TEST_F(RequestContextTest, Signatures) {
  EXPECT_EQ(Find("s3:authType"), "REST-HEADER");
  EXPECT_EQ(Find("s3:signatureversion"), "AWS4-HMAC-SHA256");
  EXPECT_EQ(Find("s3:signatureversion", "/bucket/k", {{"Authorization", "AWS a:b"}}), "AWS");
  constexpr std::string_view kPresigned = "/bucket/k?X-Amz-Date=20260102T030400Z&X-Amz-Signature=0";
  EXPECT_EQ(Find("s3:authType", kPresigned), "REST-QUERY-STRING");
  EXPECT_EQ(Find("s3:signatureAge", kPresigned), "5000");
  EXPECT_EQ(Find("s3:signatureAge", "/bucket/k", {{"x-amz-date", "20260102T030403Z"}}), "2000");
  EXPECT_EQ(Find("s3:signatureAge", "/bucket/k", {{"Date", "Fri, 02 Jan 2026 03:04:02 GMT"}}),
            "3000");
  EXPECT_EQ(Find("s3:signatureAge", "/bucket/k",
                 {{"Authorization", "AWS a:b"}, {"Date", "Fri, 02 Jan 2026 03:04:02 GMT"}}),
            "0")
      << "version 2";
  operation_ = "PostObject";
  EXPECT_EQ(Find("s3:authType"), "POST");
  const Form fourth{{{"key", "k"}, {"X-Amz-Date", "20260102T030401Z"}}, {}};
  form_ = &fourth;
  EXPECT_EQ(Find("s3:signatureAge"), "4000");
  EXPECT_EQ(Find("s3:signatureversion"), "AWS4-HMAC-SHA256");
  const Form second{{{"key", "k"}, {"AWSAccessKeyId", "a"}}, {}};
  form_ = &second;
  EXPECT_EQ(Find("s3:signatureAge"), "0");
  EXPECT_EQ(Find("s3:signatureversion"), "AWS");
  identity_ = {};
  EXPECT_EQ(Find("s3:signatureAge"), "<absent>");
}

TEST_F(RequestContextTest, ParametersAndHeaders) {
  EXPECT_EQ(Find("s3:prefix", "/bucket?prefix=a%2Fb&delimiter=/&max-keys=7"), "a/b");
  EXPECT_EQ(Find("s3:max-keys", "/bucket?prefix=a&max-keys=7"), "7");
  EXPECT_EQ(Find("s3:prefix", "/bucket"), "<absent>");
  EXPECT_EQ(Find("s3:x-amz-acl", "/bucket/k", {{"X-Amz-Acl", "private"}}), "private");
  EXPECT_EQ(Find("s3:x-amz-copy-source", "/bucket/k", {{"x-amz-copy-source", "/b/a%20b"}}),
            "b/a b");
  EXPECT_EQ(Find("s3:if-none-match", "/bucket/k", {{"If-None-Match", "*"}}), "*");
  EXPECT_EQ(Find("s3:object-lock-remaining-retention-days", "/bucket/k",
                 {{"x-amz-object-lock-retain-until-date", "2026-01-05T03:04:05Z"}}),
            "3");
  EXPECT_EQ(Find("s3:ObjectCreationOperation"), "<absent>");
  operation_ = "UploadPart";
  EXPECT_EQ(Find("s3:ObjectCreationOperation"), "false");
}

TEST_F(RequestContextTest, Tags) {
  EXPECT_EQ(Find("s3:ExistingObjectTag/Team"), "red");
  EXPECT_EQ(Find("s3:ExistingObjectTag/team"), "red") << "keys ignore case";
  EXPECT_EQ(Find("s3:ExistingObjectTag/other"), "<absent>");
  EXPECT_EQ(Find("s3:RequestObjectTag/a", "/bucket/k", {{"x-amz-tagging", "a=1&b=2"}}), "1");
  EXPECT_EQ(Find("s3:RequestObjectTagKeys", "/bucket/k", {{"x-amz-tagging", "a=1&b=2"}}), "a,b");
  const BodyKeys body = TagKeys({{"x", "9"}});
  EXPECT_EQ(Find("s3:RequestObjectTag/x", "/bucket/k", {}, body), "9");
  EXPECT_EQ(Find("s3:RequestObjectTagKeys", "/bucket/k", {}, body), "x");
  const BodyKeys cases = TagKeys({{"Team", "ml"}, {"team", "other"}});
  EXPECT_EQ(Find("s3:RequestObjectTag/team", "/bucket/k", {}, cases), "other");
  EXPECT_EQ(Find("s3:RequestObjectTag/Team", "/bucket/k", {}, cases), "ml");
  EXPECT_EQ(Find("s3:RequestObjectTag/TEAM", "/bucket/k", {}, cases), "ml") << "the first one";
}

}  // namespace
}  // namespace penstock::emulator::s3
