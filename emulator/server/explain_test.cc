#include "emulator/server/explain.h"

#include <gtest/gtest.h>

#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

TEST(ExplainQuestionTest, ReadsBothForms) {
  const auto recorded = ParseExplainQuestion(R"({"request_id": "0123"})");
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->request_id, "0123");
  const auto described = ParseExplainQuestion(
      R"({"principal":"A","action":"s3:GetObject","resource":"arn:aws:s3:::b/k",)"
      R"("context":{"aws:SourceIp":"192.0.2.1","aws:TagKeys":["a","b"]}})");
  ASSERT_TRUE(described.ok()) << described.error().message;
  EXPECT_EQ(described->principal, "A");
  ASSERT_EQ(described->described.context.size(), 2u);
  EXPECT_EQ(described->described.context[1].second, (policy::Context::Values{"a", "b"}));
}

TEST(ExplainQuestionTest, ErrorsNameTheMember) {
  const auto error = [](const char* json) { return ParseExplainQuestion(json).error().message; };
  EXPECT_EQ(error(R"({"request_id":"1","action":"s3:GetObject"})"),
            "action: cannot be combined with request_id; remove one of them");
  EXPECT_NE(error(R"({"resource":"arn:aws:s3:::b"})").find("action"), std::string::npos);
  EXPECT_EQ(error(R"({"action":"s3:GetObject","resource":"r","context":{"k":[1]}})"),
            "context.k: must be a string or a list of strings");
  EXPECT_NE(error(R"({"odd":1})").find("odd"), std::string::npos);
}

TEST(ExplainTest, UnknownRequestsPrincipalsAndBucketsAreNotFound) {
  const auto emulator = Emulator::Start({}).value();
  const auto kind = [&](const char* json) {
    return emulator->Explain("default", json).error().kind;
  };
  EXPECT_EQ(kind(R"({"request_id":"0123"})"), ErrorKind::kNotFound);
  EXPECT_EQ(kind(R"({"principal":"nobody","action":"s3:GetObject","resource":"arn:aws:s3:::b/k"})"),
            ErrorKind::kNotFound);
  EXPECT_EQ(kind(R"({"action":"s3:GetObject","resource":"arn:aws:s3:::b/k"})"),
            ErrorKind::kNotFound);
  EXPECT_EQ(
      emulator
          ->Explain(
              "default",
              R"({"principal":"penstock","action":"s3:CreateBucket","resource":"arn:aws:s3:::b"})")
          .value(),
      R"({"decisions":[{"action":"s3:CreateBucket","resource":"arn:aws:s3:::b","allowed":true,"decided_by":"account-root"}]})");
}

TEST(ExplainTest, RolesNeedNoKey) {
  const auto emulator = Emulator::Start({}).value();
  ASSERT_TRUE(emulator
                  ->AddUsers(R"({"accounts": [{"account_id": "111122223333", "roles": [
      {"name": "trainer", "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
       "trust_policy": {"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"}}}]}]})")
                  .ok());
  for (const char* const arn : {"arn:aws:iam::111122223333:role/trainer",
                                "arn:aws:sts::111122223333:assumed-role/trainer/job"}) {
    EXPECT_EQ(
        emulator
            ->Explain("default", R"({"principal":")" + std::string(arn) +
                                     R"(","action":"s3:CreateBucket","resource":"arn:aws:s3:::b"})")
            .value(),
        R"({"decisions":[{"action":"s3:CreateBucket","resource":"arn:aws:s3:::b","allowed":true,"decided_by":"identity-policy","effect":"Allow","policy":"arn:aws:iam::aws:policy/AmazonS3FullAccess","statement":0}]})");
  }
  EXPECT_EQ(
      emulator
          ->Explain(
              "default",
              R"({"principal":"arn:aws:iam::111122223333:role/other","action":"s3:CreateBucket","resource":"arn:aws:s3:::b"})")
          .error()
          .message,
      "principal: there is no requester 'arn:aws:iam::111122223333:role/other'; name an access "
      "key, "
      "or the ARN of a user, a role, a session of a role or a root");
}

}  // namespace
}  // namespace penstock::emulator::server
