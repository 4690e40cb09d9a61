#include "emulator/s3/authorization/decisions.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(DecisionsTest, JsonNamesTheStatement) {
  policy::Statement statement;
  statement.sid = "Read";
  statement.effect = policy::Effect::kAllow;
  EXPECT_EQ(DecisionJson({"s3:GetObject",
                          "arn:aws:s3:::b/k",
                          {true, policy::Source::kIdentityPolicy, &statement, 2, "user/ann/p"},
                          nullptr}),
            R"({"action":"s3:GetObject","resource":"arn:aws:s3:::b/k","allowed":true,)"
            R"("decided_by":"identity-policy","effect":"Allow","policy":"user/ann/p",)"
            R"("statement":2,"sid":"Read"})");
  EXPECT_EQ(DecisionJson({"s3:GetObject",
                          "arn:aws:s3:::b/k",
                          {false, policy::Source::kIdentityPolicy, nullptr, -1, {}},
                          nullptr}),
            R"({"action":"s3:GetObject","resource":"arn:aws:s3:::b/k","allowed":false,)"
            R"("decided_by":"identity-policy",)"
            R"("reason":"because no identity-based policy allows the s3:GetObject action"})");
}

TEST(DecisionsTest, SecretsInKeysAreRemoved) {
  const std::string json =
      DecisionJson({"s3:GetObject", "arn:aws:s3:::b/k?X-Amz-Signature=0123456789", {}, nullptr});
  EXPECT_EQ(json.find("0123456789"), std::string::npos) << json;
}

TEST(DecisionsTest, TheBucketsPolicyIsNamedByItsBucket) {
  policy::Statement statement;
  statement.effect = policy::Effect::kDeny;
  const policy::Decision decision{false, policy::Source::kResourcePolicy, &statement, 0, {}};
  for (const char* arn : {"arn:aws:s3:::b", "arn:aws:s3:::b/k/l",
                          "arn:aws:s3express:us-east-1:111122223333:bucket/b"}) {
    EXPECT_NE(DecisionJson({"s3:GetObject", arn, decision, nullptr}).find(R"("policy":"bucket/b")"),
              std::string::npos)
        << arn;
  }
}

TEST(DecisionsTest, DenialsTakePrecedenceOverTheFirstDecisions) {
  RequestHead head;
  Connection connection;
  Exchange exchange{head, connection};
  EXPECT_EQ(Decisions::Of(exchange), "");
  const auto add = [&](bool allowed, const char* action) {
    Decisions::Add(exchange,
                   {action, "arn", {allowed, policy::Source::kRoot, nullptr, -1, {}}, {}});
  };
  for (int i = 0; i < 20; ++i) add(true, "s3:GetObject");
  add(false, "s3:PutObject");
  const std::string all = Decisions::Of(exchange);
  EXPECT_TRUE(all.starts_with("[{") && all.ends_with("}]"));
  EXPECT_NE(all.find("s3:PutObject"), std::string::npos);
  Exchange outer{head, connection};
  Decisions::Move(exchange, outer);
  EXPECT_EQ(Decisions::Of(outer), all);
  EXPECT_EQ(Decisions::Of(exchange), "");
}

}  // namespace
}  // namespace penstock::emulator::s3
