#include "emulator/identity/sts/sts_parameters.h"

#include <gtest/gtest.h>

#include <memory>

namespace penstock::emulator::identity {
namespace {

using std::chrono::seconds;

std::unique_ptr<auth::QueryRequest> Query(auth::QueryParameters parameters) {
  auto query = std::make_unique<auth::QueryRequest>();
  query->parameters = std::move(parameters);
  return query;
}

TEST(StsParametersTest, UnknownAndUnsupportedParametersAreRefused) {
  const auto query = Query({{"Action", "A"}, {"RoleArn", "r"}, {"PolicyArns.member.1.arn", "p"}});
  EXPECT_TRUE(CheckKnownParameters(*query, {"RoleArn", "PolicyArns."}).ok());
  EXPECT_EQ(CheckKnownParameters(*query, {"RoleArn"}).error().code, "ValidationError");
  const auto tags = CheckKnownParameters(*Query({{"Tags.member.1.Key", "a"}}), {"RoleArn"});
  EXPECT_EQ(tags.error().code, "NotImplemented");
  EXPECT_EQ(tags.error().http_status, 501);
}

// One of two values would be ignored.
TEST(StsParametersTest, RepeatedParametersAreRefused) {
  for (const char* const name : {"RoleArn", "Policy", "PolicyArns.member.1.arn", "Action"}) {
    const auto refused =
        CheckKnownParameters(*Query({{name, "a"}, {"DurationSeconds", "900"}, {name, "b"}}),
                             {"RoleArn", "Policy", "PolicyArns.", "DurationSeconds"});
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().code, "ValidationError");
    EXPECT_EQ(refused.error().message,
              "The request has the parameter " + std::string(name) + " twice; send it once");
  }
}

TEST(StsParametersTest, TextsFollowTheirRule) {
  const TextRule rule{.least = 2, .most = 4, .punctuation = "-"};
  EXPECT_EQ(RequiredText(*Query({{"Name", "a-_9"}}), "Name", rule).value(), "a-_9");
  for (const char* const value : {"a", "abcde", "a b", "a/b"}) {
    const auto refused = RequiredText(*Query({{"Name", value}}), "Name", rule);
    ASSERT_FALSE(refused.ok()) << value;
    EXPECT_EQ(refused.error().code, "ValidationError");
    EXPECT_NE(refused.error().message.find(" at 'name' failed to satisfy constraint"),
              std::string::npos);
  }
  EXPECT_FALSE(RequiredText(*Query({}), "Name", rule).ok());
  EXPECT_EQ(OptionalText(*Query({}), "Name", rule).value(), std::nullopt);
}

TEST(StsParametersTest, MessagesDoNotRepeatTokens) {
  const auto refused = RequiredText(*Query({{"WebIdentityToken", "hush"}}), "WebIdentityToken",
                                    {.least = 5, .most = 9});
  EXPECT_EQ(refused.error().message.find("hush"), std::string::npos);
  EXPECT_NE(refused.error().message.find("Value '***' at 'webIdentityToken'"), std::string::npos);
}

TEST(StsParametersTest, DurationsHaveLimits) {
  EXPECT_EQ(Duration(*Query({}), seconds(7), seconds(1000)).value(), seconds(7));
  EXPECT_EQ(Duration(*Query({{"DurationSeconds", "900"}}), seconds(7), seconds(1000)).value(),
            seconds(900));
  for (const char* const value : {"899", "1001", "-900", "x", "", "99999999999999999999"})
    EXPECT_FALSE(Duration(*Query({{"DurationSeconds", value}}), seconds(7), seconds(1000)).ok());
}

TEST(StsParametersTest, ReadsTheArnOfARole) {
  const auto role =
      RoleOf(*Query({{"RoleArn", "arn:aws:iam::111122223333:role/jobs/large/trainer"}}));
  ASSERT_TRUE(role.ok());
  EXPECT_EQ(role->account_id, "111122223333");
  EXPECT_EQ(role->path, "/jobs/large/");
  EXPECT_EQ(role->name, "trainer");
  EXPECT_EQ(RoleOf(*Query({{"RoleArn", "arn:aws:iam::111122223333:role/trainer"}}))->path, "/");
  for (const char* const arn :
       {"arn:aws:iam::111122223333:user/trainer", "not an arn, but long",
        "arn:aws:sts::111122223333:role/trainer", "arn", "arn:zzz:iam::111122223333:role/trainer",
        "arn:aws-cn:iam::111122223333:role/trainer",
        "arn:aws:iam:us-east-1:111122223333:role/trainer"}) {
    EXPECT_EQ(RoleOf(*Query({{"RoleArn", arn}})).error().code, "ValidationError") << arn;
  }
}

TEST(StsParametersTest, SessionPoliciesAreDocuments) {
  const AccountAccess access{.account_id = "111122223333"};
  const std::string policy =
      R"({"Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}})";
  const auto both = SessionPolicies(
      *Query({{"Policy", policy},
              {"PolicyArns.member.1.arn", "arn:aws:iam::aws:policy/AmazonS3FullAccess"}}),
      access);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->size(), 2u);
  EXPECT_TRUE(SessionPolicies(*Query({}), access)->empty());
  auth::QueryParameters many;
  for (int i = 1; i <= 11; ++i) {
    many.emplace_back("PolicyArns.member." + std::to_string(i) + ".arn",
                      "arn:aws:iam::aws:policy/AmazonS3FullAccess");
  }
  EXPECT_EQ(SessionPolicies(*Query(many), access).error().code, "ValidationError");
  many.pop_back();
  EXPECT_TRUE(SessionPolicies(*Query(many), access).ok());
}

// A session policy that was ignored would give the session more permissions.
TEST(StsParametersTest, EveryMemberOfPolicyArnsCounts) {
  const AccountAccess access{.account_id = "111122223333"};
  const std::string arn = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess";
  for (const char* const name : {"PolicyArns.member.2.arn", "PolicyArns.member.01.arn",
                                 "PolicyArns.1.arn", "PolicyArns.member.1.Arn", "PolicyArns."}) {
    const auto refused = SessionPolicies(*Query({{name, arn}}), access);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().code, "ValidationError");
    EXPECT_NE(refused.error().message.find(name), std::string::npos);
  }
  EXPECT_EQ(
      SessionPolicies(*Query({{"PolicyArns.member.2.arn", arn}, {"PolicyArns.member.1.arn", arn}}),
                      access)
          ->size(),
      2u);
}

}  // namespace
}  // namespace penstock::emulator::identity
