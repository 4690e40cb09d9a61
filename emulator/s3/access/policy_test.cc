#include "emulator/s3/access/policy.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::s3 {
namespace {

std::string Message(std::string_view policy) {
  const auto facts = CheckPolicy(policy, "bucket");
  if (facts.ok()) return facts->is_public ? "public" : "private";
  EXPECT_EQ(facts.error().code, "MalformedPolicy") << policy;
  EXPECT_EQ(facts.error().http_status, 400);
  return facts.error().message;
}

std::string Statement(std::string_view fields) {
  return R"({"Version":"2012-10-17","Statement":[{)" + std::string(fields) + "}]}";
}

constexpr std::string_view kRest = R"("Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*")";

TEST(PolicyTest, MustBeJson) {
  for (const char* text : {"", " {}", "[]", "{", "hello", "\"{\"", "{\"Statement\":[]} x"}) {
    EXPECT_EQ(Message(text), "Policies must be valid JSON and the first byte must be '{'") << text;
  }
  EXPECT_EQ(Message(std::string_view("{}\0 x", 5)),
            "Policies must be valid JSON and the first byte must be '{'");
  EXPECT_EQ(Message("{}"), "Missing required field Statement");
  EXPECT_EQ(Message(R"({"Version":"2020-01-01","Statement":[]})"),
            "The policy must contain a valid version string");
  EXPECT_EQ(Message(R"({"Statement":[]})"), "Could not parse the policy: Statement is empty!");
  EXPECT_NE(Message("{\"Id\":\"" + std::string(20 << 10, 'x') + "\"}").find("20480"),
            std::string::npos);
}

TEST(PolicyTest, ConditionsHaveKnownOperators) {
  const auto message = [](const std::string& operation) {
    return Message(Statement(R"("Effect":"Deny","Principal":"*",)" + std::string(kRest) +
                             R"(,"Condition":{")" + operation +
                             R"(":{"aws:username":"10.0.0.1"}})"));
  };
  EXPECT_EQ(message("Nope"), "Invalid Condition type : Nope");
  EXPECT_EQ(message("ForEachValue:StringEquals"),
            "Invalid Condition type : ForEachValue:StringEquals");
  EXPECT_EQ(message("NullIfExists"), "Invalid Condition type : NullIfExists");
  for (const char* known :
       {"StringEquals", "StringNotEqualsIgnoreCase", "NumericLessThanEquals", "DateGreaterThan",
        "Bool", "NotIpAddress", "ArnLike", "Null", "BoolIfExists", "ForAnyValue:StringLike",
        "ForAllValues:StringEqualsIfExists"}) {
    EXPECT_EQ(message(known), "private");
  }
}

TEST(PolicyTest, StatementsMustBeComplete) {
  const std::string all = R"("Effect":"Allow","Principal":"*",)";
  EXPECT_EQ(Message(Statement(R"("Principal":"*",)" + std::string(kRest))),
            "Missing required field Effect");
  EXPECT_EQ(Message(Statement(R"("Effect":"allow","Principal":"*",)" + std::string(kRest))),
            "Invalid effect: allow");
  EXPECT_EQ(Message(Statement(R"("Effect":"Allow",)" + std::string(kRest))),
            "Missing required field Principal");
  EXPECT_EQ(Message(Statement(R"("Effect":"Allow","Principal":"me",)" + std::string(kRest))),
            "Invalid principal in policy");
  EXPECT_EQ(
      Message(Statement(R"("Effect":"Allow","Principal":{"AWS":"me"},)" + std::string(kRest))),
      "Invalid principal in policy");
  EXPECT_EQ(Message(Statement(all + R"("Resource":"arn:aws:s3:::bucket/*")")),
            "Missing required field Action");
  EXPECT_EQ(Message(Statement(all + R"("Action":"s3:GetObject")")),
            "Missing required field Resource");
  EXPECT_EQ(Message(Statement(all + R"("Action":"ec2:Run","Resource":"arn:aws:s3:::bucket/*")")),
            "Policy has invalid action");
  EXPECT_EQ(
      Message(Statement(all + R"("Action":"s3:GetObject","Resource":"arn:aws:s3:::other/*")")),
      "Policy has invalid resource");
  EXPECT_EQ(Message(Statement(all + R"("Action":"s3:GetObject","Resource":"bucket")")),
            "Policy has invalid resource");
  EXPECT_EQ(Message(Statement(all + R"("Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket")")),
            "Action does not apply to any resource(s) in statement");
  EXPECT_EQ(
      Message(Statement(all + R"("Action":["s3:ListBucket"],"Resource":"arn:aws:s3:::bucket/*")")),
      "Action does not apply to any resource(s) in statement");
}

// "Unknown field" was recorded against Amazon S3. The texts for both of a pair are the emulator's.
TEST(PolicyTest, UnknownAndContradictingMembersAreRefused) {
  const std::string all = R"("Effect":"Allow","Principal":"*",)" + std::string(kRest);
  EXPECT_EQ(Message(Statement(all + R"(,"condition":{})")), "Unknown field condition");
  EXPECT_EQ(Message(R"({"Statement":[{)" + all + R"(}],"statement":[]})"),
            "Unknown field statement");
  EXPECT_EQ(Message(Statement(all + R"(,"Sid":"a b")")), "public");
  EXPECT_EQ(Message(Statement(all + R"(,"NotPrincipal":"*")")),
            "A statement must not have both Principal and NotPrincipal");
  EXPECT_EQ(Message(Statement(all + R"(,"NotAction":"s3:*")")),
            "A statement must not have both Action and NotAction");
  EXPECT_EQ(Message(Statement(all + R"(,"NotResource":"*")")),
            "A statement must not have both Resource and NotResource");
}

// IAM User Guide, "AWS JSON policy elements: Principal".
TEST(PolicyTest, PrincipalsHaveTheirForm) {
  const auto message = [](const std::string& principal) {
    return Message(
        Statement(R"("Effect":"Allow","Principal":)" + principal + "," + std::string(kRest)));
  };
  for (const char* valid :
       {R"({"AWS":"123456789012"})", R"({"AWS":"arn:aws:iam::123456789012:root"})",
        R"({"AWS":"arn:aws-cn:iam::123456789012:user/people/ann"})",
        R"({"AWS":["arn:aws:iam::123456789012:role/r","AROAEXAMPLE"]})",
        R"({"AWS":"arn:aws:sts::123456789012:assumed-role/r/session"})",
        R"({"AWS":"arn:aws:sts::123456789012:federated-user/ann"})",
        R"({"AWS":"arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E1"})",
        R"({"Federated":"accounts.google.com","Service":"s3.amazonaws.com"})"}) {
    EXPECT_EQ(message(valid), "private") << valid;
  }
  const std::string id(64, 'a');
  EXPECT_EQ(message(R"({"CanonicalUser":")" + id + R"("})"), "private");
  EXPECT_EQ(message(R"({"CanonicalUser":")" + id + std::string(32, 'b') + R"("})"), "private")
      << "of an origin access identity";
  for (const char* invalid :
       {R"({"AWS":"12345678901"})", R"({"AWS":"arn:aws:iam::12:root"})",
        R"({"AWS":"arn:aws:iam::123456789012:group/g"})",
        R"({"AWS":"arn:aws:iam::123456789012:user/*"})", R"({"AWS":"arn:aws:s3:::bucket"})",
        R"({"AWS":"arn:aws:iam:us-east-1:123456789012:root"})", R"({"AWS":"arn:aws:iam"})",
        R"({"CanonicalUser":"ff"})"}) {
    EXPECT_EQ(message(invalid), "Invalid principal in policy") << invalid;
  }
}

TEST(PolicyTest, ConditionsHaveKeysAndAddresses) {
  const auto message = [](const std::string& condition) {
    return Message(Statement(R"("Effect":"Deny","Principal":"*",)" + std::string(kRest) +
                             R"(,"Condition":)" + condition));
  };
  constexpr std::string_view kKey = "Policy has an invalid condition key";
  EXPECT_EQ(message(R"({"StringEquals":{"prefix":"a"}})"), kKey);
  EXPECT_EQ(message(R"({"StringEquals":"aws:username"})"), kKey);
  for (const char* address : {"10.0.0.0/8", "10.1.2.3", "2001:db8::/128"}) {
    EXPECT_EQ(message(R"({"NotIpAddress":{"aws:SourceIp":[")" + std::string(address) + R"("]}})"),
              "private");
  }
  for (const char* address : {"300.1.1.1", "10.0.0.0/33", "10.0.0.0/", "2001:db8::/129", "a"}) {
    EXPECT_EQ(
        message(R"({"IpAddressIfExists":{"aws:SourceIp":")" + std::string(address) + R"("}})"),
        "Invalid IP address in Conditions");
  }
}

TEST(PolicyTest, PublicMeansEveryoneWithoutALimitingCondition) {
  const std::string rest(kRest);
  EXPECT_EQ(Message(Statement(R"("Effect":"Allow","Principal":"*",)" + rest)), "public");
  EXPECT_EQ(Message(Statement(R"("Effect":"Allow","Principal":{"AWS":["*"]},)" + rest)), "public");
  EXPECT_EQ(Message(Statement(R"("Effect":"Deny","Principal":"*",)" + rest)), "private");
  EXPECT_EQ(Message(Statement(R"("Effect":"Allow","Principal":{"AWS":"123456789012"},)" + rest)),
            "private");
  EXPECT_EQ(Message(Statement(
                R"("Effect":"Allow","Principal":{"Service":"logging.s3.amazonaws.com"},)" + rest)),
            "private");
  const std::string everybody = R"("Effect":"Allow","Principal":"*",)" + rest + R"(,"Condition":)";
  EXPECT_EQ(Message(Statement(everybody + R"({"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}})")),
            "private");
  EXPECT_EQ(Message(Statement(everybody + R"({"IpAddress":{"aws:SourceIp":"0.0.0.0/0"}})")),
            "public");
  EXPECT_EQ(Message(Statement(everybody + R"({"StringLike":{"aws:SourceArn":"arn:*"}})")),
            "public");
  EXPECT_EQ(Message(Statement(everybody + R"({"Bool":{"aws:SecureTransport":"true"}})")), "public");
}

TEST(PolicyTest, OneStatementNeedsNoArray) {
  EXPECT_EQ(
      Message(
          R"({"Statement":{"Effect":"Deny","Principal":"*","NotAction":"s3:*","Resource":["arn:aws:s3:::bucket",)"
          R"("arn:aws:s3:::bucket/*"]}})"),
      "private");
}

}  // namespace
}  // namespace penstock::emulator::s3
