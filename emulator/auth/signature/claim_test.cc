#include "emulator/auth/signature/claim.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

Result<Claim> ParseHeader(const std::string& authorization,
                          std::vector<std::pair<std::string, std::string>> more = {
                              {"x-amz-date", "20130524T000000Z"}}) {
  more.emplace_back("Authorization", authorization);
  // Views of the claim point into the request, so the request must stay alive.
  static std::vector<std::unique_ptr<TestExchange>> kept;
  kept.push_back(
      std::make_unique<TestExchange>(TestRequest{.headers = std::move(more), .body = {}}));
  return ParseHeaderClaim(kept.back()->exchange.request);
}

std::string Credential(const std::string& credential) {
  return "AWS4-HMAC-SHA256 Credential=" + credential + ",SignedHeaders=host,Signature=ab";
}

constexpr char kGood[] =
    "AWS4-HMAC-SHA256 Credential=AK/20130524/us-east-1/s3/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=ab";

TEST(HeaderClaimTest, ParsesTheHeader) {
  const auto claim = ParseHeader(kGood);
  ASSERT_TRUE(claim.ok());
  EXPECT_EQ(claim->access_key_id, "AK");
  EXPECT_EQ(claim->scope, "20130524/us-east-1/s3/aws4_request");
  EXPECT_EQ(claim->region, "us-east-1");
  EXPECT_EQ(claim->signature, "ab");
  EXPECT_TRUE(claim->Signs("x-amz-date"));
  EXPECT_FALSE(claim->Signs("date"));
}

TEST(HeaderClaimTest, AcceptsCommasWithoutSpaces) {
  EXPECT_TRUE(
      ParseHeader(
          "AWS4-HMAC-SHA256 "
          "Credential=AK/20130524/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=ab")
          .ok());
}

TEST(HeaderClaimTest, AccessKeyMayContainASlash) {
  EXPECT_EQ(ParseHeader(Credential("team/AK/20130524/us-east-1/s3/aws4_request"))->access_key_id,
            "team/AK");
}

TEST(HeaderClaimTest, SortsTheSignedHeaders) {
  const auto claim = ParseHeader(
      "AWS4-HMAC-SHA256 "
      "Credential=AK/20130524/us-east-1/s3/"
      "aws4_request,SignedHeaders=x-amz-date;host,Signature=ab");
  ASSERT_TRUE(claim.ok());
  EXPECT_TRUE(claim->Signs("host"));
}

TEST(HeaderClaimTest, FallsBackToTheDateHeader) {
  const auto claim = ParseHeader(kGood, {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}});
  ASSERT_TRUE(claim.ok());
  EXPECT_EQ(claim->amz_date, "20130524T000000Z");
}

// Errors of requests with an Authorization header, with the code of each.
TEST(HeaderClaimTest, ReturnsTheCodeOfEachError) {
  const struct {
    std::string header;
    const char* code;
    const char* part_of_message;
  } cases[] = {
      {"AWS4-HMAC-SHA256", "InvalidArgument", "one and only one ' ' (space) required"},
      {"Bearer abc", "InvalidArgument", "Unsupported Authorization Type"},
      {"AWS4-ECDSA-P256-SHA256 Credential=a", "NotImplemented", "AWS4-HMAC-SHA256"},
      {"AWS4-HMAC-SHA256 Credential=AK/20130524/us-east-1/s3/aws4_request,SignedHeaders=host",
       "AuthorizationHeaderMalformed",
       "requires three components: Credential, SignedHeaders, and Signature."},
      {Credential("AK/20130524/us-east-1/s3"), "AuthorizationHeaderMalformed",
       "expecting \"<YOUR-AKID>/YYYYMMDD/REGION"},
      {Credential("/20130524/us-east-1/s3/aws4_request"), "AuthorizationHeaderMalformed",
       "the Credential is mal-formed"},
      {Credential("AK/2013-5-24/us-east-1/s3/aws4_request"), "AuthorizationHeaderMalformed",
       "incorrect date format"},
  };
  for (const auto& each : cases) {
    const auto claim = ParseHeader(each.header);
    ASSERT_FALSE(claim.ok()) << each.header;
    EXPECT_EQ(claim.error().code, each.code) << each.header;
    EXPECT_NE(claim.error().message.find(each.part_of_message), std::string::npos)
        << claim.error().message;
  }
}

TEST(HeaderClaimTest, RefusesASecondCopyOfAnEmptyComponent) {
  for (const char* empty : {"Credential=", "SignedHeaders=", "Signature"}) {
    const auto claim = ParseHeader("AWS4-HMAC-SHA256 " + std::string(empty) + ", " +
                                   std::string(kGood).substr(17));
    ASSERT_FALSE(claim.ok()) << empty;
    EXPECT_EQ(claim.error().code, "AuthorizationHeaderMalformed");
    EXPECT_NE(claim.error().message.find("is given twice"), std::string::npos)
        << claim.error().message;
  }
}

TEST(HeaderClaimTest, RefusesARequestWithoutADate) {
  EXPECT_EQ(ParseHeader(kGood, {}).error().message,
            "AWS authentication requires a valid Date or x-amz-date header");
  EXPECT_EQ(ParseHeader(kGood, {{"x-amz-date", "yesterday"}}).error().code, "AccessDenied");
}

s3::Target Presigned(const std::string& name, const std::string& value) {
  s3::Target target;
  const std::pair<std::string, std::string> defaults[] = {
      {"X-Amz-Algorithm", "AWS4-HMAC-SHA256"},
      {"X-Amz-Credential", "AK/20130524/us-east-1/s3/aws4_request"},
      {"X-Amz-Date", "20130524T000000Z"},
      {"X-Amz-Expires", "60"},
      {"X-Amz-SignedHeaders", "host"},
      {"X-Amz-Signature", "ab"}};
  for (const auto& [key, fallback] : defaults)
    target.query.push_back({key, key == name ? value : fallback});
  return target;
}

TEST(QueryClaimTest, ParsesTheQuery) {
  const s3::Target target = Presigned("", "");
  const auto claim = ParseQueryClaim(target);
  ASSERT_TRUE(claim.ok());
  EXPECT_EQ(claim->access_key_id, "AK");
  EXPECT_EQ(claim->expires, std::chrono::seconds(60));
}

TEST(QueryClaimTest, AcceptsAWholeWeek) {
  EXPECT_TRUE(ParseQueryClaim(Presigned("X-Amz-Expires", "604800")).ok());
}

// Errors of presigned requests, with S3's wording of each.
TEST(QueryClaimTest, ReturnsTheMessageOfEachError) {
  const struct {
    const char* name;
    const char* value;
    const char* part_of_message;
  } cases[] = {
      {"X-Amz-Signature", "", "Query-string authentication version 4 requires"},
      {"X-Amz-Algorithm", "HMAC", "X-Amz-Algorithm only supports"},
      {"X-Amz-Credential", "AK",
       "Error parsing the X-Amz-Credential parameter; the Credential is mal-formed"},
      {"X-Amz-Date", "Fri, 24 May 2013 00:00:00 GMT", "ISO8601 Long Format"},
      {"X-Amz-Expires", "604801", "must be less than a week"},
      {"X-Amz-Expires", "99999999999999999999999", "must be less than a week"},
      {"X-Amz-Expires", "-1", "must be non-negative"},
      {"X-Amz-Expires", "soon", "should be a number"},
  };
  for (const auto& each : cases) {
    const s3::Target target = Presigned(each.name, each.value);
    const auto claim = ParseQueryClaim(target);
    ASSERT_FALSE(claim.ok()) << each.name;
    EXPECT_EQ(claim.error().code, "AuthorizationQueryParametersError");
    EXPECT_NE(claim.error().message.find(each.part_of_message), std::string::npos)
        << claim.error().message;
  }
}

TEST(ScopeTest, RefusesEachWrongPartOfTheScope) {
  const struct {
    const char* credential;
    const char* part_of_message;
  } cases[] = {
      {"AK/20130524/us-east-1/s3/aws3_request",
       "incorrect terminal \"aws3_request\". This endpoint uses \"aws4_request\"."},
      {"AK/20130524/us-east-1/ec2/aws4_request",
       "incorrect service \"ec2\". This endpoint belongs to \"s3\"."},
      {"AK/20130524/eu-west-1/s3/aws4_request",
       "the region 'eu-west-1' is wrong; expecting 'us-east-1'"},
      {"AK/20130525/us-east-1/s3/aws4_request",
       "Invalid credential date. Date is not the same as X-Amz-Date."},
      {"AK/20130524//s3/aws4_request", "a non-empty region must be provided in the credential."},
      {"AK/20130525/eu-west-1/ec2/aws3_request",
       "the region 'eu-west-1' is wrong; expecting 'us-east-1'"},
      {"AK/20130525/us-east-1/ec2/aws3_request",
       "incorrect service \"ec2\". This endpoint belongs to \"s3\"."},
  };
  for (const auto& each : cases) {
    const auto claim = ParseHeader(Credential(each.credential));
    ASSERT_TRUE(claim.ok());
    const auto checked = CheckScope(*claim, "us-east-1", "s3");
    ASSERT_FALSE(checked.ok()) << each.credential;
    EXPECT_EQ(checked.error().code, "AuthorizationHeaderMalformed");
    EXPECT_EQ(checked.error().message,
              "The authorization header is malformed; " + std::string(each.part_of_message));
  }
}

TEST(ScopeTest, NamesAWrongDayOfAPresignedUrl) {
  const s3::Target target = Presigned("X-Amz-Credential", "AK/20130525/us-east-1/s3/aws4_request");
  const auto claim = ParseQueryClaim(target);
  ASSERT_TRUE(claim.ok());
  const auto checked = CheckScope(*claim, "us-east-1", "s3");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message,
            "Error parsing the X-Amz-Credential parameter; Invalid credential date \"20130525\". "
            "This date is not the same as "
            "X-Amz-Date: \"20130524\".");
}

TEST(ScopeTest, WrongRegionErrorNamesTheExpectedRegion) {
  const auto checked = CheckScope(*ParseHeader(Credential("AK/20130524/eu-west-1/s3/aws4_request")),
                                  "us-east-1", "s3");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(checked.error().details.at(0),
            (std::pair<std::string, std::string>("Region", "us-east-1")));
}

TEST(MechanismTest, FindsEachMechanism) {
  const TestExchange header(ExampleGet());
  const TestExchange plain(TestRequest{});
  EXPECT_EQ(*FindMechanism(header.exchange.request, {}), Mechanism::kHeader);
  EXPECT_EQ(*FindMechanism(plain.exchange.request, {}), Mechanism::kAnonymous);
  EXPECT_EQ(*FindMechanism(plain.exchange.request, Presigned("", "")), Mechanism::kQuery);
}

TEST(MechanismTest, RefusesTwoAtOnce) {
  const TestExchange header(ExampleGet());
  const Error error = FindMechanism(header.exchange.request, Presigned("", "")).error();
  EXPECT_EQ(error.code, "InvalidArgument");
  EXPECT_EQ(error.details.at(0),
            (std::pair<std::string, std::string>("ArgumentName", "Authorization")));
  EXPECT_EQ(error.details.at(1).first, "ArgumentValue");
  EXPECT_EQ(error.details.at(1).second, *header.exchange.request.Find("authorization"));
}

TEST(MechanismTest, RecognizesAVersionTwoHeader) {
  const TestExchange version_two(TestRequest{
      .method = "GET", .target = "/", .headers = {{"authorization", "AWS AK:c2ln"}}, .body = {}});
  EXPECT_EQ(FindMechanism(version_two.exchange.request, {}).value(), Mechanism::kVersionTwoHeader);
}

TEST(MechanismTest, RecognizesAVersionTwoQuery) {
  const TestExchange plain(TestRequest{});
  s3::Target target;
  target.query = {{"AWSAccessKeyId", "AK"}, {"Signature", "c2ln"}, {"Expires", "1"}};
  EXPECT_EQ(FindMechanism(plain.exchange.request, target).value(), Mechanism::kVersionTwoQuery);
}

TEST(SignatureParameterTest, AreRecognizedInAnyCase) {
  for (const char* name : {"X-Amz-Signature", "x-amz-date", "X-AMZ-SECURITY-TOKEN",
                           "AWSAccessKeyId", "Signature", "Expires"}) {
    EXPECT_TRUE(IsSignatureParameter(name)) << name;
  }
  for (const char* name : {"x-amz-acl", "x-amz-meta-signature", "X-Amz-", "acl", ""}) {
    EXPECT_FALSE(IsSignatureParameter(name)) << name;
  }
}

}  // namespace
}  // namespace penstock::emulator::auth
