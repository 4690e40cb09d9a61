// Checks besides the signature: who, when and with which headers. vectors_test.cc has the
// signatures.
#include "emulator/auth/verifier.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/signature/canonical.h"

namespace penstock::emulator::auth {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr char kPresigned[] =
    "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%"
    "2Fus-east-1%2Fs3%2F"
    "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-"
    "Signature="
    "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";

class VerifierTest : public testing::Test {
 protected:
  Result<Admission> Verify(TestRequest request, std::chrono::nanoseconds clock_ahead = {}) {
    test_ = std::make_unique<TestExchange>(std::move(request));
    s3::Exchange& exchange = test_->exchange;
    exchange.clock_ahead = clock_ahead;
    auto target =
        s3::ParseTarget(exchange.request.target, *exchange.request.Find("host"), ExampleHosts());
    exchange.target = std::move(target).value();
    return verifier_.Verify(exchange);
  }
  // Returns the error code; empty if the request was admitted.
  std::string Code(TestRequest request, std::chrono::nanoseconds clock_ahead = {}) {
    const auto admission = Verify(std::move(request), clock_ahead);
    return admission.ok() ? "" : admission.error().code;
  }
  static TestRequest Presigned() {
    return {.method = "GET",
            .target = kPresigned,
            .headers = {{"Host", "examplebucket.s3.amazonaws.com"}},
            .body = {}};
  }

  AuthOptions options_ = ExampleOptions();
  OneUser directory_;
  Verifier verifier_{options_, directory_};
  std::unique_ptr<TestExchange> test_;
};

TEST_F(VerifierTest, AdmitsASignedRequest) {
  const auto admission = Verify(ExampleGet());
  ASSERT_TRUE(admission.ok());
  EXPECT_EQ(admission->identity.access_key_id, kExampleKey);
  EXPECT_EQ(test_->exchange.space, directory_.space);
}

TEST_F(VerifierTest, AllowsFifteenMinutesOfSkewEitherWay) {
  const WallTime date = directory_.clock.Now();
  for (const minutes skew : {minutes(15), minutes(-15)}) {
    directory_.clock.SetNow(date + skew);
    EXPECT_EQ(Code(ExampleGet()), "");
  }
  for (const seconds skew : {seconds(901), seconds(-901)}) {
    directory_.clock.SetNow(date + skew);
    EXPECT_EQ(Code(ExampleGet()), "RequestTimeTooSkewed");
  }
}

TEST_F(VerifierTest, UsesTheClockOffsetOfTheRequest) {
  constexpr std::chrono::days kTenYears(3'650);
  directory_.clock.SetNow(directory_.clock.Now() - kTenYears);
  EXPECT_EQ(Code(ExampleGet()), "RequestTimeTooSkewed");
  EXPECT_EQ(Code(ExampleGet(), kTenYears), "");
  directory_.clock.SetNow(WallTime::max() - hours(24 * 100));
  EXPECT_EQ(Code(ExampleGet(), kTenYears), "RequestTimeTooSkewed") << "no clock goes that far";
}

// S3 is reported to accept both (aws4fetch#83): '+' has the meaning that was signed. The signatures
// were made with Python's hmac.
TEST_F(VerifierTest, PlusInTheQueryHasTheSignedMeaning) {
  const auto listing = [](std::string_view signature) {
    return TestRequest{
        .method = "GET",
        .target = "/?delimiter=%2B&prefix=a+b",
        .headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                    {"x-amz-content-sha256",
                     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                    {"x-amz-date", "20130524T000000Z"},
                    {"Authorization",
                     "AWS4-HMAC-SHA256 "
                     "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                     "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" +
                         std::string(signature)}},
        .body = {}};
  };
  EXPECT_EQ(Code(listing("3b4fe200eeb3c6e6424f5ecc5910665b8967eeb3b87ee8a18abd34565d0a3317")), "");
  EXPECT_EQ(test_->exchange.target.Get("prefix"), "a b");
  EXPECT_EQ(test_->exchange.target.Get("delimiter"), "+");
  EXPECT_EQ(Code(listing("2740ca2fabee1425ed9de617aa75e660b5b87499127bf52a6677f31280705b4a")), "");
  EXPECT_EQ(test_->exchange.target.Get("prefix"), "a+b");
  EXPECT_EQ(Code(listing("0000000000000000000000000000000000000000000000000000000000000000")),
            "SignatureDoesNotMatch");
}

TEST_F(VerifierTest, SkewErrorNamesBothTimes) {
  directory_.clock.Advance(hours(1));
  const auto admission = Verify(ExampleGet());
  ASSERT_FALSE(admission.ok());
  const auto& details = admission.error().details;
  ASSERT_EQ(details.size(), 3u);
  EXPECT_EQ(details[0], (std::pair<std::string, std::string>("RequestTime", "20130524T000000Z")));
  EXPECT_EQ(details[1],
            (std::pair<std::string, std::string>("ServerTime", "2013-05-24T01:00:00Z")));
  EXPECT_EQ(details[2],
            (std::pair<std::string, std::string>("MaxAllowedSkewMilliseconds", "900000")));
}

TEST_F(VerifierTest, PresignedUrlWorksUntilItExpires) {
  directory_.clock.Advance(seconds(86400));
  EXPECT_EQ(Code(Presigned()), "");
  directory_.clock.Advance(seconds(1));
  const auto admission = Verify(Presigned());
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().code, "AccessDenied");
  EXPECT_EQ(admission.error().message, "Request has expired");
  EXPECT_EQ(admission.error().details.at(0),
            (std::pair<std::string, std::string>("X-Amz-Expires", "86400")));
  EXPECT_EQ(admission.error().details.at(1),
            (std::pair<std::string, std::string>("Expires", "2013-05-25T00:00:00Z")));
  EXPECT_EQ(admission.error().details.at(2),
            (std::pair<std::string, std::string>("ServerTime", "2013-05-25T00:00:01Z")));
}

TEST_F(VerifierTest, PresignedUrlFromTheFutureIsNotValidYet) {
  directory_.clock.SetNow(directory_.clock.Now() - minutes(15));
  EXPECT_EQ(Code(Presigned()), "");
  directory_.clock.SetNow(directory_.clock.Now() - seconds(1));
  const auto admission = Verify(Presigned());
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().message, "Request is not valid yet");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"X-Amz-Date", "1369353600000"},
      {"Expires", "2013-05-25T00:00:00Z"},
      {"ServerTime", "2013-05-23T23:44:59Z"}};
  EXPECT_EQ(admission.error().details, expected);
}

TEST_F(VerifierTest, PresignedUrlAtTheEndOfTheClockIsNotValidYet) {
  TestRequest request = Presigned();
  const std::string date = "20130524";
  for (auto at = request.target.find(date); at != std::string::npos;
       at = request.target.find(date)) {
    request.target.replace(at, date.size(), "99991231");
  }
  EXPECT_EQ(Verify(request).error().message, "Request is not valid yet");
}

TEST_F(VerifierTest, NamesAnUnknownKey) {
  directory_.user.access_key_id = "SOMEBODYELSE";
  const auto admission = Verify(ExampleGet());
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().code, "InvalidAccessKeyId");
  EXPECT_EQ(admission.error().http_status, 403);
  EXPECT_EQ(admission.error().details.at(0).second, kExampleKey);
}

TEST_F(VerifierTest, ReportsSkewBeforeAnUnknownKey) {
  directory_.user.access_key_id = "SOMEBODYELSE";
  directory_.clock.Advance(hours(1));
  EXPECT_EQ(Code(ExampleGet()), "RequestTimeTooSkewed");
}

TEST_F(VerifierTest, ReportsAWrongRegionBeforeAnUnknownKey) {
  options_.region = "eu-west-1";
  directory_.user.access_key_id = "SOMEBODYELSE";
  EXPECT_EQ(Code(ExampleGet()), "AuthorizationHeaderMalformed");
}

TEST_F(VerifierTest, RequiresTheTokenOfATemporaryKey) {
  directory_.user.session_token = "TOKEN";
  EXPECT_EQ(Code(ExampleGet()), "InvalidAccessKeyId");
}

TEST_F(VerifierTest, RefusesAnUnknownToken) {
  TestRequest request = ExampleGet();
  request.headers.emplace_back("x-amz-security-token", "TOKEN");
  EXPECT_EQ(Code(request), "InvalidToken");
  directory_.user.session_token = "ANOTHER";
  EXPECT_EQ(Code(request), "InvalidToken");
}

// A valid signature with a session token. Whether it is accepted depends only on the user record.
TestRequest WithToken() {
  return {.method = "PUT",
          .target = "/k",
          .headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                      {"x-amz-meta-a", "  two   spaces  "},
                      {"x-amz-content-sha256",
                       "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"},
                      {"x-amz-security-token", "TESTTOKEN=="},
                      {"x-amz-date", std::string(kExampleDate)},
                      {"Authorization",
                       AuthorizationHeader(
                           kExampleScope,
                           "host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-security-token",
                           "c123eae925854bb5b47005fdd12556f2bc01a3421ffd888b112dee01d27f0c0a")}},
          .body = "hello"};
}

TEST_F(VerifierTest, TokenWorksUntilItExpires) {
  directory_.user.session_token = "TESTTOKEN==";
  directory_.user.expires = directory_.clock.Now() + seconds(1);
  EXPECT_EQ(Code(WithToken()), "");
  directory_.clock.Advance(seconds(1));
  const auto admission = Verify(WithToken());
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().code, "ExpiredToken");
  EXPECT_EQ(admission.error().message, "The provided token has expired.");
  EXPECT_EQ(admission.error().http_status, 400);
  EXPECT_EQ(admission.error().details.at(0),
            (std::pair<std::string, std::string>("Token-0", "TESTTOKEN==")));
}

TEST_F(VerifierTest, ReportsAWrongTokenAsInvalidNotExpired) {
  directory_.user.session_token = "ANOTHER";
  directory_.user.expires = directory_.clock.Now();
  EXPECT_EQ(Code(WithToken()), "InvalidToken");
}

TEST_F(VerifierTest, TreatsAnInactiveKeyAsUnknown) {
  directory_.user.active = false;
  EXPECT_EQ(Code(ExampleGet()), "InvalidAccessKeyId");
  options_.mode = Mode::kParse;
  EXPECT_EQ(Code(ExampleGet()), "InvalidAccessKeyId");
}

TEST_F(VerifierTest, ParsingNeedsNoSecret) {
  options_.mode = Mode::kParse;
  directory_.user.secret_access_key = "another";
  const auto admission = Verify(ExampleGet());
  ASSERT_TRUE(admission.ok()) << admission.error().ToString();
  EXPECT_EQ(admission->identity.owner_id, directory_.user.identity.owner_id);
  EXPECT_EQ(admission->payload_kind, PayloadKind::kUnsigned)
      << "the payload hash must not be verified";
  EXPECT_EQ(test_->exchange.signing_region, "us-east-1");
}

TEST_F(VerifierTest, ParsingAcceptsAnUnknownKey) {
  options_.mode = Mode::kParse;
  directory_.user.access_key_id = "SOMEBODYELSE";
  const auto admission = Verify(Presigned());
  ASSERT_TRUE(admission.ok()) << admission.error().ToString();
  EXPECT_EQ(admission->identity.access_key_id, kExampleKey);
  EXPECT_EQ(admission->identity.owner_id, "") << "must not be that of the known user";
}

TEST_F(VerifierTest, ParsingChecksOnlyTheTokensExpiry) {
  options_.mode = Mode::kParse;
  directory_.user.session_token = "ANOTHER";
  directory_.user.expires = directory_.clock.Now() + seconds(1);
  EXPECT_EQ(Code(WithToken()), "");
  EXPECT_EQ(Code(ExampleGet()), "") << "a token must not be required";
  directory_.clock.Advance(seconds(1));
  EXPECT_EQ(Code(WithToken()), "ExpiredToken");
}

TEST_F(VerifierTest, ParsingStillChecksFormScopeAndDates) {
  options_.mode = Mode::kParse;
  TestRequest malformed = ExampleGet();
  *malformed.Header("Authorization") = "AWS4-HMAC-SHA256 Credential=a/b";
  EXPECT_EQ(Code(malformed), "AuthorizationHeaderMalformed");
  options_.region = "eu-west-1";
  EXPECT_EQ(Code(ExampleGet()), "AuthorizationHeaderMalformed");
  options_.region = "us-east-1";
  directory_.clock.Advance(hours(25));
  EXPECT_EQ(Code(ExampleGet()), "RequestTimeTooSkewed");
  EXPECT_EQ(Verify(Presigned()).error().message, "Request has expired");
  EXPECT_EQ(Code({.method = "GET", .target = "/k", .headers = {{"Host", "localhost"}}, .body = {}}),
            "AccessDenied");
}

TEST_F(VerifierTest, RequiresThePayloadHash) {
  TestRequest request = ExampleGet();
  std::erase_if(request.headers,
                [](const auto& header) { return header.first == "x-amz-content-sha256"; });
  const auto admission = Verify(request);
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().code, "InvalidRequest");
  EXPECT_EQ(admission.error().message,
            "Missing required header for this request: x-amz-content-sha256");
}

TEST_F(VerifierTest, NamesHeadersThatWereNotSigned) {
  TestRequest request = ExampleGet();
  request.headers.emplace_back("X-Amz-Acl", "private");
  request.headers.emplace_back("x-amz-meta-b", "1");
  request.headers.emplace_back("x-amzn-trace-id", "1");  // not x-amz-
  const auto admission = Verify(request);
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().message,
            "There were headers present in the request which were not signed");
  EXPECT_EQ(admission.error().details.at(0),
            (std::pair<std::string, std::string>("HeadersNotSigned", "x-amz-acl, x-amz-meta-b")));
}

TEST_F(VerifierTest, NamesAnUnsignedHost) {
  TestRequest request = ExampleGet();
  *request.Header("Authorization") =
      AuthorizationHeader(kExampleScope, "x-amz-content-sha256;x-amz-date", std::string(64, '0'));
  EXPECT_EQ(Verify(request).error().details.at(0).second, "host");
}

TEST_F(VerifierTest, MismatchErrorShowsTheExpectedStrings) {
  TestRequest request = ExampleGet();
  *request.Header("Range") = "bytes=0-8";
  const auto admission = Verify(request);
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().code, "SignatureDoesNotMatch");
  const auto& details = admission.error().details;
  EXPECT_EQ(details.at(0), (std::pair<std::string, std::string>("AWSAccessKeyId", kExampleKey)));
  EXPECT_TRUE(details.at(1).second.starts_with("AWS4-HMAC-SHA256\n20130524T000000Z\n"))
      << details.at(1).second;
  EXPECT_EQ(details.at(4).first, "CanonicalRequest");
  EXPECT_NE(details.at(4).second.find("range:bytes=0-8\n"), std::string::npos);
}

TEST_F(VerifierTest, NoErrorContainsTheSecret) {
  TestRequest request = ExampleGet();
  *request.Header("Range") = "bytes=0-8";
  const auto admission = Verify(request);
  ASSERT_FALSE(admission.ok());
  for (const auto& detail : admission.error().details) {
    EXPECT_EQ(detail.second.find(kExampleSecret), std::string::npos) << detail.first;
  }
  EXPECT_EQ(admission.error().ToString().find(kExampleSecret), std::string::npos);
}

TEST_F(VerifierTest, RefusesAnonymousRequestsUnlessAllowed) {
  const TestRequest request{
      .method = "GET", .target = "/test.txt", .headers = {{"Host", "localhost"}}, .body = {}};
  EXPECT_EQ(Code(request), "AccessDenied");
  options_.allow_anonymous = true;
  const auto admission = Verify(request);
  ASSERT_TRUE(admission.ok());
  EXPECT_TRUE(admission->identity.anonymous());
}

// A browser's preflight of a presigned URL carries a signature for another method.
TEST_F(VerifierTest, PreflightsNeedNoSignature) {
  const TestRequest preflight{.method = "OPTIONS",
                              .target = "/b/k?X-Amz-Signature=s",
                              .headers = {{"Host", "localhost"}},
                              .body = {}};
  const auto admission = Verify(preflight);
  ASSERT_TRUE(admission.ok()) << admission.error().ToString();
  EXPECT_TRUE(admission->identity.anonymous());
}

TEST_F(VerifierTest, RefusesSignedChunksOfAnAnonymousRequest) {
  options_.allow_anonymous = true;
  TestRequest request{
      .method = "PUT", .target = "/b/k", .headers = {{"Host", "localhost"}}, .body = {}};
  request.headers.emplace_back("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD");
  const auto admission = Verify(request);
  ASSERT_FALSE(admission.ok());
  EXPECT_EQ(admission.error().code, "InvalidRequest");
  EXPECT_EQ(admission.error().message,
            "Anonymous requests don't support this x-amz-content-sha256 value. Please use "
            "UNSIGNED-PAYLOAD or "
            "STREAMING-UNSIGNED-PAYLOAD-TRAILER.");
}

}  // namespace
}  // namespace penstock::emulator::auth
