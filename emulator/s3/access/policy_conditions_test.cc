#include "emulator/s3/access/policy_conditions.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kInvalidKey = "Policy has an invalid condition key";
constexpr std::string_view kNotApplicable =
    "Conditions do not apply to combination of actions and resources in statement";
constexpr std::string_view kSyntax = "Invalid policy syntax.";

// `actions`: a wildcard is '*'.
std::string Message(std::string_view condition,
                    const std::vector<std::string>& actions = {"s3:*"}) {
  std::vector<PolicyActionPattern> patterns;
  for (const std::string& action : actions)
    patterns.push_back({MatchPolicyActions(action), action.find('*') != std::string::npos});
  const auto checked = CheckPolicyConditions(Json::parse(condition), patterns);
  return checked.ok() ? "accepted" : checked.error().message;
}

TEST(PolicyConditionsTest, OperatorsAreKnown) {
  const auto message = [](const std::string& operation) {
    return Message("{\"" + operation + R"(":{"aws:username":"10.0.0.1"}})");
  };
  EXPECT_EQ(message("Nope"), "Invalid Condition type : Nope");
  EXPECT_EQ(message("ForEachValue:StringEquals"),
            "Invalid Condition type : ForEachValue:StringEquals");
  EXPECT_EQ(message("NullIfExists"), "Invalid Condition type : NullIfExists");
  for (const char* known :
       {"StringEquals", "StringNotEqualsIgnoreCase", "NumericLessThanEquals", "DateGreaterThan",
        "Bool", "NotIpAddress", "ArnLike", "Null", "BoolIfExists", "ForAnyValue:StringLike",
        "ForAllValues:StringEqualsIfExists"}) {
    EXPECT_EQ(message(known), "accepted") << known;
  }
}

TEST(PolicyConditionsTest, ValuesAreScalars) {
  EXPECT_EQ(Message("[]"), kSyntax);
  EXPECT_EQ(Message(R"({"StringEquals":"aws:username"})"), kSyntax);
  EXPECT_EQ(Message(R"({"StringEquals":{"aws:username":{}}})"), kSyntax);
  EXPECT_EQ(Message(R"({"StringEquals":{"aws:username":null}})"), kSyntax);
  EXPECT_EQ(Message(R"({"StringEquals":{"aws:username":["a",["b"]]}})"), kSyntax);
  EXPECT_EQ(Message(R"({"Bool":{"aws:SecureTransport":[true,1,"x"]}})"), "accepted");
  EXPECT_EQ(Message(R"({"Bool":{"aws:SecureTransport":false}})"), "accepted");
}

TEST(PolicyConditionsTest, AddressesHaveTheirForm) {
  for (const char* address : {"10.0.0.0/8", "10.1.2.3", "2001:db8::/128"}) {
    EXPECT_EQ(Message(R"({"NotIpAddress":{"aws:SourceIp":[")" + std::string(address) + R"("]}})"),
              "accepted");
  }
  for (const char* address : {"300.1.1.1", "10.0.0.0/33", "10.0.0.0/", "2001:db8::/129", "a"}) {
    EXPECT_EQ(
        Message(R"({"IpAddressIfExists":{"aws:SourceIp":")" + std::string(address) + R"("}})"),
        "Invalid IP address in Conditions");
  }
}

TEST(PolicyConditionsTest, KeysOfBothServicesMustBeKnown) {
  const auto message = [](const std::string& key) {
    return Message(R"({"StringEquals":{")" + key + R"(":"a"}})");
  };
  for (const char* unknown : {"prefix", "s3:Prefixes", "S3:", "s3express:mode", "s3:BucketTag/"})
    EXPECT_EQ(message(unknown), kInvalidKey) << unknown;
  for (const char* known : {"S3:PREFIX", "s3:BucketTag/a", "aws:Unknown", "ec2:RoleDelivery"})
    EXPECT_EQ(message(known), "accepted") << known;
}

TEST(PolicyConditionsTest, EveryNamedActionNeedsTheKey) {
  constexpr std::string_view kPrefix = R"({"StringEquals":{"s3:prefix":"a"}})";
  EXPECT_EQ(Message(kPrefix, {"s3:ListBucket", "s3:ListBucketVersions"}), "accepted");
  EXPECT_EQ(Message(kPrefix, {"s3:ListBucket", "s3:GetObject"}), kNotApplicable);
  EXPECT_EQ(Message(kPrefix, {"s3:ListBucket", "s3:Get*"}), "accepted");
  EXPECT_EQ(Message(kPrefix, {"s3:GetObject", "s3:*"}), kNotApplicable);
  EXPECT_EQ(Message(kPrefix, {"s3:Get*", "s3:Put*"}), kNotApplicable);
  EXPECT_EQ(Message(kPrefix, {}), "accepted") << "NotAction";
  EXPECT_EQ(Message(R"({"Bool":{"s3:TlsVersion":"1.2"}})", {"s3:GetObject"}), "accepted");
}

TEST(PolicyConditionsTest, FixedValuesOfCertainKeysNarrow) {
  const auto narrows = [](std::string_view condition) {
    return NarrowsPrincipals(Json::parse(condition));
  };
  EXPECT_TRUE(narrows(R"({"StringEquals":{"AWS:SourceVpc":["vpc-1","vpc-2"]}})"));
  EXPECT_FALSE(narrows(R"({"StringLike":{"aws:SourceVpc":["vpc-1","vpc-*"]}})"));
  EXPECT_FALSE(narrows(R"({"StringEquals":{"aws:username":"a"}})"));
  EXPECT_FALSE(narrows(R"({"StringEquals":{"aws:SourceVpc":1}})"));
  EXPECT_FALSE(narrows("[1]"));
}

TEST(PolicyConditionsTest, OnlyOperatorsThatNeedOneOfTheValuesNarrow) {
  const auto narrows = [](const std::string& name, const std::string& test) {
    return NarrowsPrincipals(Json::parse("{\"" + name + "\":{" + test + "}}"));
  };
  const std::string account = R"("aws:PrincipalAccount":"123456789012")";
  for (const char* name :
       {"StringEquals", "StringEqualsIgnoreCase", "StringLike", "ForAnyValue:StringEquals"})
    EXPECT_TRUE(narrows(name, account)) << name;
  for (const char* name :
       {"StringNotEquals", "StringNotLike", "StringEqualsIfExists", "ForAllValues:StringEquals",
        "ForAnyValue:StringNotEquals", "NumericGreaterThan", "Gone"})
    EXPECT_FALSE(narrows(name, account)) << name;
  EXPECT_FALSE(narrows("Null", R"("aws:SourceVpc":"true")"));
  EXPECT_FALSE(narrows("NotIpAddress", R"("aws:SourceIp":"192.0.2.1")"));
  EXPECT_TRUE(narrows("ArnLike", R"("aws:PrincipalArn":"arn:aws:iam::123456789012:role/a")"));
  EXPECT_FALSE(narrows("ArnNotLike", R"("aws:PrincipalArn":"arn:aws:iam::123456789012:role/a")"));
}

// Amazon S3 User Guide, "The meaning of public": broader than /8, and /32 of IPv6, is public.
TEST(PolicyConditionsTest, BroadRangesOfAddressesDoNotNarrow) {
  const auto narrows = [](const std::string& ranges) {
    return NarrowsPrincipals(Json::parse(R"({"IpAddress":{"aws:SourceIp":[)" + ranges + "]}}"));
  };
  for (const char* ranges : {R"("192.0.2.1")", R"("10.0.0.0/8")", R"("2001:db8::/32")",
                             R"("2001:db8::1")", R"("192.0.2.0/24","198.51.100.0/24")"})
    EXPECT_TRUE(narrows(ranges)) << ranges;
  for (const char* ranges : {R"("0.0.0.0/1","128.0.0.0/1")", R"("10.0.0.0/7")", R"("2001::/31")",
                             R"("192.0.2.0/24","0.0.0.0/1")", R"("192.0.2.0/x")"})
    EXPECT_FALSE(narrows(ranges)) << ranges;
}

}  // namespace
}  // namespace penstock::emulator::s3
