#include "emulator/s3/authorization/decisions.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(DecisionsTest, JsonNamesTheStatement) {
  policy::Statement statement;
  statement.sid = "Read";
  statement.effect = policy::Effect::kAllow;
  EXPECT_EQ(DecisionJson("s3:GetObject", "arn:aws:s3:::b/k",
                         {true, policy::Source::kIdentityPolicy, &statement, 2, "user/ann/p"}, "b"),
            R"({"action":"s3:GetObject","resource":"arn:aws:s3:::b/k","allowed":true,)"
            R"("decided_by":"identity-policy","effect":"Allow","policy":"user/ann/p",)"
            R"("statement":2,"sid":"Read"})");
  EXPECT_EQ(DecisionJson("s3:GetObject", "arn:aws:s3:::b/k",
                         {false, policy::Source::kIdentityPolicy, nullptr, -1, {}}, "b"),
            R"({"action":"s3:GetObject","resource":"arn:aws:s3:::b/k","allowed":false,)"
            R"("decided_by":"identity-policy",)"
            R"("reason":"because no identity-based policy allows the s3:GetObject action"})");
}

TEST(DecisionsTest, DenialsTakePrecedenceOverTheFirstDecisions) {
  RequestHead head;
  Connection connection;
  Exchange exchange{head, connection};
  EXPECT_EQ(Decisions::Of(exchange), "");
  for (int i = 0; i < 20; ++i) Decisions::Add(exchange, true, "1");
  Decisions::Add(exchange, false, "0");
  EXPECT_EQ(Decisions::Of(exchange), "[1,1,1,1,1,1,1,0]");
  Exchange outer{head, connection};
  Decisions::Move(exchange, outer);
  EXPECT_EQ(Decisions::Of(outer), "[1,1,1,1,1,1,1,0]");
  EXPECT_EQ(Decisions::Of(exchange), "");
}

}  // namespace
}  // namespace penstock::emulator::s3
