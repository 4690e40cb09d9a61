#include "emulator/policy/condition.h"

#include <gtest/gtest.h>

#include "emulator/policy/policy_test_support.h"

namespace penstock::emulator::policy {
namespace {

using testing::MapContext;

const MapContext kContext{{"s3:prefix", {"home/ann"}},
                          {"aws:username", {"ann"}},
                          {"aws:SourceIp", {"203.0.113.7"}},
                          {"aws:CurrentTime", {"2026-01-02T03:04:05.000Z"}},
                          {"aws:EpochTime", {"1767323045"}},
                          {"s3:max-keys", {"10"}},
                          {"aws:SecureTransport", {"false"}},
                          {"aws:PrincipalArn", {"arn:aws:iam::111122223333:role/team/reader"}},
                          {"aws:TagKeys", {"a", "b"}},
                          {"s3:signature", {"QUJD"}},
                          {"aws:empty", {}}};

bool Check(std::string_view op, std::string_view key, const std::vector<std::string>& values) {
  const auto found = FindConditionOperator(op);
  EXPECT_TRUE(found.has_value()) << op;
  Condition condition{*found, ContextKey(key), {}};
  const bool like = found->test == ConditionOperator::Test::kStringLike ||
                    found->test == ConditionOperator::Test::kArnLike;
  for (const std::string& value : values) {
    condition.values.emplace_back(value, like ? Pattern::Wildcards::kYes : Pattern::Wildcards::kNo,
                                  Pattern::Variables::kYes);
  }
  return Holds(condition, kContext);
}

TEST(PolicyConditionTest, OperatorsIgnoreCase) {
  EXPECT_TRUE(FindConditionOperator("stringEQUALS").has_value());
  const auto op = FindConditionOperator("ForAnyValue:StringNotLikeIfExists");
  ASSERT_TRUE(op.has_value());
  EXPECT_TRUE(op->negated);
  EXPECT_TRUE(op->if_exists);
  EXPECT_EQ(op->set, ConditionOperator::Set::kForAnyValue);
  for (const char* unknown :
       {"", "StringEqual", "NullIfExists", "ForAllValues:Null", "IfExists", "NumericNotLessThan"}) {
    EXPECT_FALSE(FindConditionOperator(unknown).has_value()) << unknown;
  }
}

TEST(PolicyConditionTest, Strings) {
  EXPECT_TRUE(Check("StringEquals", "s3:prefix", {"x", "home/ann"}));
  EXPECT_FALSE(Check("StringEquals", "s3:prefix", {"HOME/ANN", "home/*"}));
  EXPECT_TRUE(Check("StringEqualsIgnoreCase", "S3:PREFIX", {"HOME/ANN"}));
  EXPECT_TRUE(Check("StringLike", "s3:prefix", {"home/${aws:username}*"}));
  EXPECT_TRUE(Check("StringNotLike", "s3:prefix", {"x*", "y*"}));
  EXPECT_FALSE(Check("StringNotLike", "s3:prefix", {"x*", "home/*"}));
  EXPECT_FALSE(Check("StringNotEqualsIgnoreCase", "s3:prefix", {"HOME/ann"}));
}

TEST(PolicyConditionTest, Numbers) {
  EXPECT_TRUE(Check("NumericLessThanEquals", "s3:max-keys", {"10"}));
  EXPECT_FALSE(Check("NumericLessThan", "s3:max-keys", {"10"}));
  EXPECT_TRUE(Check("NumericEquals", "s3:max-keys", {"10.0"}));
  EXPECT_TRUE(Check("NumericGreaterThan", "s3:max-keys", {"9.5"}));
  EXPECT_FALSE(Check("NumericGreaterThanEquals", "s3:max-keys", {"11"}));
  EXPECT_FALSE(Check("NumericNotEquals", "s3:max-keys", {"10"}));
  EXPECT_FALSE(Check("NumericEquals", "s3:prefix", {"10"})) << "not a number";
}

TEST(PolicyConditionTest, Dates) {
  EXPECT_TRUE(Check("DateGreaterThan", "aws:CurrentTime", {"2026-01-01T00:00:00Z"}));
  EXPECT_TRUE(Check("DateGreaterThan", "aws:CurrentTime", {"2026-01-02"}));
  EXPECT_TRUE(Check("DateLessThan", "aws:CurrentTime", {"2026-01-02T03:05Z"}));
  EXPECT_TRUE(Check("DateEquals", "aws:EpochTime", {"2026-01-02T03:04:05Z"}));
  EXPECT_TRUE(Check("DateLessThanEquals", "aws:CurrentTime", {"1767323045"}));
  EXPECT_FALSE(Check("DateNotEquals", "aws:CurrentTime", {"1767323045"}));
  EXPECT_FALSE(Check("DateGreaterThanEquals", "aws:CurrentTime", {"2027-01-01T00:00:00+01:00"}));
}

TEST(PolicyConditionTest, AddressesAndBooleans) {
  EXPECT_TRUE(Check("IpAddress", "aws:SourceIp", {"203.0.113.0/24"}));
  EXPECT_TRUE(Check("IpAddress", "aws:SourceIp", {"203.0.113.7"}));
  EXPECT_TRUE(Check("IpAddress", "aws:SourceIp", {"203.0.113.6/31"}));
  EXPECT_FALSE(Check("IpAddress", "aws:SourceIp", {"203.0.113.8/31", "2001:db8::/32"}));
  EXPECT_FALSE(Check("NotIpAddress", "aws:SourceIp", {"203.0.112.0/23"}));
  EXPECT_TRUE(Check("IpAddress", "aws:SourceIp", {"0.0.0.0/0"}));
  EXPECT_TRUE(Check("Bool", "aws:SecureTransport", {"False"}));
  EXPECT_TRUE(Check("BinaryEquals", "s3:signature", {"QUJD"}));
}

TEST(PolicyConditionTest, ArnsAreComparedByPart) {
  EXPECT_TRUE(Check("ArnLike", "aws:PrincipalArn", {"arn:aws:iam::*:role/*"}));
  EXPECT_TRUE(Check("ArnEquals", "aws:PrincipalArn", {"arn:aws:iam::*:role/team/*"}));
  EXPECT_FALSE(Check("ArnLike", "aws:PrincipalArn", {"arn:*:role/team/reader"}));
  EXPECT_FALSE(Check("ArnNotLike", "aws:PrincipalArn", {"arn:aws:iam::111122223333:role/*"}));
  EXPECT_TRUE(Check("ArnNotEquals", "aws:PrincipalArn", {"arn:aws:iam::1:*"}));
}

// IAM User Guide, "IAM policy elements: Variables and tags": ${*} is the character.
TEST(PolicyConditionTest, ValuesOfVariablesHaveNoWildcardsInArns) {
  MapContext context{{"aws:SourceArn", {"arn:aws:s3:::private/k"}}, {"aws:username", {"*"}}};
  const auto like = [&](const char* text) {
    const Condition condition{*FindConditionOperator("ArnLike"),
                              ContextKey("aws:SourceArn"),
                              {Pattern(text, Pattern::Wildcards::kYes, Pattern::Variables::kYes)}};
    return Holds(condition, context);
  };
  EXPECT_TRUE(like("arn:aws:s3:::*/k"));
  EXPECT_FALSE(like("arn:aws:s3:::${*}/k"));
  EXPECT_FALSE(like("arn:aws:s3:::${aws:username}/k"));
  EXPECT_FALSE(like("arn:aws:s3:::privat${?}/k"));
  context.Set("aws:username", {"private"});
  EXPECT_TRUE(like("arn:aws:s3:::${aws:username}/?"));
  context.Set("aws:username", {"s3:::private"});
  EXPECT_TRUE(like("arn:aws:${aws:username}/k")) << "a value can have colons";
}

TEST(PolicyConditionTest, AbsentKeys) {
  EXPECT_FALSE(Check("StringEquals", "s3:delimiter", {""}));
  EXPECT_TRUE(Check("StringNotEquals", "s3:delimiter", {"/"}));
  EXPECT_TRUE(Check("StringEqualsIfExists", "s3:delimiter", {"/"}));
  EXPECT_TRUE(Check("StringNotEqualsIfExists", "s3:delimiter", {"/"}));
  EXPECT_FALSE(Check("StringEqualsIfExists", "s3:prefix", {"/"}));
  EXPECT_TRUE(Check("Null", "s3:delimiter", {"true"}));
  EXPECT_FALSE(Check("Null", "s3:delimiter", {"false"}));
  EXPECT_TRUE(Check("Null", "s3:prefix", {"false"}));
  EXPECT_TRUE(Check("Null", "aws:empty", {"true"}));
  EXPECT_FALSE(Check("Bool", "aws:MultiFactorAuthPresent", {"false"}));
  EXPECT_TRUE(Check("BoolIfExists", "aws:MultiFactorAuthPresent", {"false"}));
}

TEST(PolicyConditionTest, SetsOfValues) {
  EXPECT_TRUE(Check("ForAllValues:StringEquals", "aws:TagKeys", {"a", "b", "c"}));
  EXPECT_FALSE(Check("ForAllValues:StringEquals", "aws:TagKeys", {"a"}));
  EXPECT_TRUE(Check("ForAllValues:StringEquals", "s3:delimiter", {"a"}));
  EXPECT_TRUE(Check("ForAnyValue:StringEquals", "aws:TagKeys", {"b", "z"}));
  EXPECT_FALSE(Check("ForAnyValue:StringEquals", "aws:TagKeys", {"z"}));
  EXPECT_FALSE(Check("ForAnyValue:StringEquals", "s3:delimiter", {"a"}));
  EXPECT_FALSE(Check("ForAnyValue:StringNotEquals", "s3:delimiter", {"a"}));
  EXPECT_TRUE(Check("ForAnyValue:StringNotEquals", "aws:TagKeys", {"a"}));
  EXPECT_FALSE(Check("ForAllValues:StringNotEquals", "aws:TagKeys", {"a"}));
  EXPECT_FALSE(Check("StringNotEquals", "aws:TagKeys", {"a"}));
}

TEST(PolicyConditionTest, ValuesAreChecked) {
  const auto problem = [](std::string_view op, std::string_view value) {
    return ConditionValueProblem(*FindConditionOperator(op), value);
  };
  EXPECT_EQ(problem("Bool", "yes"), "invalid value \"yes\": expected true or false");
  EXPECT_EQ(problem("NumericEquals", "1O"), "invalid value \"1O\": expected a number");
  EXPECT_NE(problem("DateLessThan", "tomorrow"), "");
  EXPECT_NE(problem("IpAddress", "10.0.0.0/33"), "");
  EXPECT_NE(problem("BinaryEquals", "?"), "");
  EXPECT_EQ(problem("StringLike", "anything"), "");
  EXPECT_EQ(problem("DateLessThan", "2026-01-02"), "");
}

}  // namespace
}  // namespace penstock::emulator::policy
