#include "emulator/policy/document.h"

#include <gtest/gtest.h>

namespace penstock::emulator::policy {
namespace {

constexpr std::string_view kReadPolicy = R"({
  "Version": "2012-10-17",
  "Statement": {"Sid": "Read", "Effect": "Allow", "Action": ["s3:GetObject"],
                "Resource": "arn:aws:s3:::bucket/*",
                "Condition": {"StringLike": {"s3:prefix": "home/${aws:username}/*"}}}})";

TEST(PolicyDocumentTest, IdentityPolicyIsParsed) {
  const auto document = ParseIdentityPolicy(kReadPolicy);
  ASSERT_TRUE(document.ok()) << document.error().message;
  ASSERT_EQ((*document)->statements.size(), 1u);
  const Statement& statement = (*document)->statements[0];
  EXPECT_EQ(statement.sid, "Read");
  EXPECT_EQ(statement.effect, Effect::kAllow);
  EXPECT_FALSE(statement.principal.has_value());
  ASSERT_EQ(statement.conditions.size(), 1u);
  EXPECT_EQ(statement.conditions[0].key, "s3:prefix");
}

std::string ErrorOf(const Result<std::shared_ptr<const Document>>& parsed) {
  return parsed.ok() ? "" : parsed.error().message;
}

std::string IdentityError(std::string_view statement) {
  return ErrorOf(ParseIdentityPolicy(R"({"Statement":[)" + std::string(statement) + "]}"));
}

TEST(PolicyDocumentTest, ErrorsNameThePlace) {
  EXPECT_EQ(IdentityError(R"({"Effect":"Allow","Action":"GetObject","Resource":"*"})"),
            "Statement[0].Action: invalid action \"GetObject\": expected SERVICE:ACTION, for "
            "example \"s3:GetObject\", or \"*\"");
  EXPECT_EQ(IdentityError(R"({"Effect":"allow","Action":"s3:*","Resource":"*"})"),
            "Statement[0].Effect: must be \"Allow\" or \"Deny\", not \"allow\"");
  EXPECT_EQ(IdentityError(R"({"Effect":"Allow","Action":"s3:*","Resource":"bucket"})"),
            "Statement[0].Resource: invalid resource \"bucket\": expected an ARN, for example "
            "\"arn:aws:s3:::bucket/*\", or \"*\"");
  EXPECT_EQ(IdentityError(R"({"Effect":"Allow","Action":"s3:*"})"),
            "Statement[0]: must have Resource or NotResource");
  EXPECT_EQ(IdentityError(R"({"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"*"})"),
            "Statement[0].Principal: an identity policy has no principal; remove the member");
  EXPECT_EQ(
      IdentityError(R"({"Effect":"Allow","Action":"s3:*","NotAction":"s3:*","Resource":"*"})"),
      "Statement[0]: must not have both Action and NotAction");
  EXPECT_EQ(
      IdentityError(
          R"({"Effect":"Allow","Action":"s3:*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"x"}}})"),
      "Statement[0].Condition.IpAddress.aws:SourceIp: invalid value \"x\": expected an IP address "
      "or a range such as \"203.0.113.0/24\"");
  EXPECT_EQ(ErrorOf(ParseIdentityPolicy(R"({"Version":"2012","Statement":[]})")),
            "Version: must be \"2012-10-17\" or \"2008-10-17\", not \"2012\"");
  EXPECT_EQ(ErrorOf(ParseIdentityPolicy("{")),
            "invalid JSON: syntax error or unexpected end at byte 1 of 1");
}

TEST(PolicyDocumentTest, BucketPoliciesMayRepeatAMember) {
  const auto resource = ParseResourcePolicy(
      R"({"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"*",)"
      R"("Condition":{"StringEquals":{"a:b":"1"},"StringEquals":{"a:c":"2"}}}})");
  ASSERT_TRUE(resource.ok()) << resource.error().message;
  const auto& conditions = (*resource)->statements[0].conditions;
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].key, "a:c");
  EXPECT_EQ(ErrorOf(ParseResourcePolicy("{]")), "the policy is not valid JSON");
}

TEST(PolicyDocumentTest, OtherTypesHavePrincipals) {
  const auto resource = ParseResourcePolicy(
      R"({"Statement":{"Effect":"Deny","NotPrincipal":{"AWS":["111122223333"]},)"
      R"("Action":"s3:*","Resource":"*"}})");
  ASSERT_TRUE(resource.ok()) << resource.error().message;
  const auto& principal = (*resource)->statements[0].principal;
  ASSERT_TRUE(principal.has_value());
  EXPECT_TRUE(principal->negated);
  EXPECT_EQ(principal->aws, std::vector<std::string>{"111122223333"});
  const auto trust = ParseTrustPolicy(
      R"({"Statement":{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}})");
  ASSERT_TRUE(trust.ok()) << trust.error().message;
  EXPECT_TRUE((*trust)->statements[0].principal->everyone);
}

}  // namespace
}  // namespace penstock::emulator::policy
