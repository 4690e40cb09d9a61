#include "emulator/s3/access/policy.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::s3 {
namespace {

std::string Message(std::string_view policy) {
  const auto checked = CheckPolicy(policy, "bucket");
  if (checked.ok()) return IsPublicPolicy(policy) ? "public" : "private";
  EXPECT_EQ(checked.error().code, "MalformedPolicy") << policy;
  EXPECT_EQ(checked.error().http_status, 400);
  return checked.error().message;
}

std::string Statement(std::string_view fields) {
  return R"({"Version":"2012-10-17","Statement":[{)" + std::string(fields) + "}]}";
}

constexpr std::string_view kRest = R"("Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*")";

TEST(PolicyTest, MustBeJson) {
  for (const char* text : {"", " {}", "[]", "hello", "\"{\""}) {
    EXPECT_EQ(Message(text), "Policies must be valid JSON and the first byte must be '{'") << text;
  }
  constexpr std::string_view kInvalid = "This policy contains invalid Json";
  EXPECT_EQ(Message("{"), kInvalid);
  EXPECT_EQ(Message("{\"Statement\":[]} x"), kInvalid);
  EXPECT_EQ(Message(std::string_view("{}\0 x", 5)), kInvalid);
  EXPECT_EQ(Message("{}"), "Missing required field Statement");
  EXPECT_EQ(Message(R"({"Version":"2020-01-01","Statement":[]})"),
            "The policy must contain a valid version string");
  EXPECT_EQ(Message(R"({"Statement":[]})"), "Could not parse the policy: Statement is empty!");
}

TEST(PolicyTest, TheLimitIsOnTheTextWithoutWhiteSpaceBetweenTokens) {
  constexpr std::string_view kTooLarge =
      "Normalized policy document exceeds the maximum allowed size of 20480 bytes";
  const std::string id = "{\"Id\":\"" + std::string(20'470, '\\') + "\"";
  EXPECT_EQ(Message(id + "}").find("exceeds"), std::string::npos);
  EXPECT_EQ(Message(id + " \t\r\n}").find("exceeds"), std::string::npos);
  EXPECT_EQ(Message(id + ",\"\":1}"), kTooLarge);
  EXPECT_EQ(Message("{\"Id\":\"" + std::string(20'472, ' ') + "\"}"), kTooLarge) << "in a string";
  EXPECT_EQ(Message(R"({"Id":"\")" + std::string(20'480, ' ') + "\"}"), kTooLarge)
      << "after an escaped quotation mark";
  const std::string rest = R"("Effect":"Deny","Principal":"*",)" + std::string(kRest);
  EXPECT_EQ(Message(Statement(std::string(30'000, ' ') + rest)), "private");
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
            "Invalid policy syntax.");
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
  EXPECT_EQ(Message(R"({"Id":"a","Statement":[{)" + all + "}]}"), "public");
  for (const char* id : {"1", "null", "[]", "{}", "true"}) {
    EXPECT_EQ(Message(R"({"Id":)" + std::string(id) + R"(,"Statement":[{)" + all + "}]}"),
              "Invalid policy syntax.")
        << id;
    EXPECT_EQ(Message(Statement(all + R"(,"Sid":)" + id)), "Invalid policy syntax.") << id;
  }
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

// An older version may have stored what is refused now.
TEST(PolicyTest, RefusedPoliciesCanBePublic) {
  const std::string statement =
      R"("Effect":"Allow","Principal":"*","Action":"s3:Gone","Resource":"*")";
  EXPECT_EQ(Message(Statement(statement)), "Policy has invalid action");
  EXPECT_TRUE(IsPublicPolicy(Statement(statement)));
  for (const char* text :
       {"", "x", "{}", R"({"Statement":1})", R"({"Statement":[1]})", R"({"Statement":{}})",
        R"({"Statement":{"Effect":"Allow"}})", R"({"Statement":{"Effect":1,"Principal":"*"}})",
        R"({"Statement":{"Effect":"Allow","Principal":1}})"}) {
    EXPECT_FALSE(IsPublicPolicy(text)) << text;
  }
  EXPECT_TRUE(
      IsPublicPolicy(R"({"Statement":{"Effect":"Allow","Principal":"*","Condition":[1]}})"));
}

TEST(PolicyTest, ErrorsNameTheValue) {
  const auto detail = [](const std::string& fields) {
    const auto checked = CheckPolicy(Statement(R"("Effect":"Deny",)" + fields), "bucket");
    return checked.ok() ? std::string("accepted") : checked.error().details.at(0).second;
  };
  EXPECT_EQ(detail(R"("Principal":{"AWS":"me"},)" + std::string(kRest)), R"({"AWS":"me"})");
  EXPECT_EQ(detail(R"("Principal":"*","Action":"s3:Get","Resource":"arn:aws:s3:::bucket")"),
            "s3:Get");
}

TEST(PolicyTest, WildcardsOfBucketNamesMatchObjects) {
  const auto message = [](const std::string& resource) {
    return Message(Statement(R"("Effect":"Deny","Principal":"*","Action":"s3:GetObject",)"
                             R"("Resource":"arn:aws:s3:::)" +
                             resource + "\""));
  };
  EXPECT_EQ(message("buck*"), "private");
  EXPECT_EQ(message("*"), "private");
  EXPECT_EQ(message("bucke?"), "Action does not apply to any resource(s) in statement");
}

TEST(PolicyTest, NegatedElementsNeedNoCommonResourceAndKey) {
  const std::string all = R"("Effect":"Deny","Principal":"*",)";
  EXPECT_EQ(
      Message(Statement(all + R"("NotAction":"s3:GetObject","Resource":"arn:aws:s3:::bucket",)"
                              R"("Condition":{"Null":{"s3:prefix":"true"}})")),
      "private");
  EXPECT_EQ(
      Message(Statement(all + R"("Action":"s3:ListBucket","NotResource":"arn:aws:s3:::bucket/*")")),
      "private");
  EXPECT_EQ(Message(Statement(all + R"("NotAction":"s3:Get","Resource":"arn:aws:s3:::bucket")")),
            "Policy has invalid action");
  EXPECT_EQ(Message(Statement(all + R"("Action":"s3:*","NotResource":"arn:aws:s3:::other")")),
            "Policy has invalid resource");
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
