// Sessions of a directory bucket, from CreateSession to their expiry after five minutes, through
// auth and the router.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/xml/xml.h"
#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/signing_key.h"
#include "emulator/policy/document.h"
#include "emulator/s3/dispatch/router.h"

namespace penstock::emulator::auth {
namespace {

const std::string kBucket = "logs--use1-az4--x-s3";

struct Keys {
  std::string id = std::string(kExampleKey);
  std::string secret = std::string(kExampleSecret);
  std::string session_token;
  std::string service = "s3express";
};

class SessionsTest : public testing::Test {
 protected:
  SessionsTest() {
    auto store = store::Store::Open({.clock = &directory_.clock});
    EXPECT_TRUE(store.ok());
    directory_.space->store = std::move(store).value();
    directory_.user.identity.account_id = "123456789012";
    EXPECT_EQ(Send("PUT", "/" + kBucket, Keys(), {},
                   "<CreateBucketConfiguration><Location><Type>AvailabilityZone</"
                   "Type><Name>use1-az4</Name></Location>"
                   "<Bucket><Type>Directory</Type></Bucket></CreateBucketConfiguration>"),
              "200");
  }

  // Returns "200", or "403 AccessDenied". `target` has no query except a sub-resource.
  std::string Send(const std::string& method, const std::string& target, const Keys& keys,
                   std::vector<std::pair<std::string, std::string>> more = {},
                   const std::string& body = {}) {
    TestRequest request{
        .method = method, .target = target, .headers = std::move(more), .body = body};
    request.headers.emplace_back("Host", "127.0.0.1:9000");
    request.headers.emplace_back("x-amz-date", FormatAmzDate(directory_.clock.Now()));
    const std::string hash = HexEncode(Sha256(AsBytes(body)));
    request.headers.emplace_back("x-amz-content-sha256", hash);
    if (!keys.session_token.empty())
      request.headers.emplace_back("x-amz-s3session-token", keys.session_token);
    Sign(request, keys, hash);
    return Handle(std::move(request));
  }

  std::string Handle(TestRequest request) {
    test_ = std::make_unique<TestExchange>(std::move(request));
    auth_->Handle(test_->exchange);
    const s3::Response& response = test_->exchange.response;
    return std::to_string(response.status) +
           (response.error_code.empty() ? "" : " " + response.error_code);
  }

  static void Sign(TestRequest& request, const Keys& keys, const std::string& hash) {
    std::vector<std::string> names;
    for (const auto& [name, value] : request.headers)
      names.push_back(name == "Host" ? "host" : name);
    std::sort(names.begin(), names.end());
    std::string signed_headers;
    for (const std::string& name : names)
      signed_headers += (signed_headers.empty() ? "" : ";") + name;
    const std::string date = *request.Header("x-amz-date");
    const std::string scope = date.substr(0, 8) + "/us-east-1/" + keys.service + "/aws4_request";
    const auto question = request.target.find('?');
    const std::string path = request.target.substr(0, question);
    const std::string query =
        question == std::string::npos ? "" : request.target.substr(question + 1);
    const TestExchange views(request);
    const std::string canonical = CanonicalRequest({.head = views.exchange.request,
                                                    .raw_path = path,
                                                    .raw_query = query,
                                                    .query_leave_out = "",
                                                    .signed_headers = {names.begin(), names.end()},
                                                    .payload_hash = hash});
    const HmacSha256Key key(DeriveSigningKey({.secret = keys.secret,
                                              .day = date.substr(0, 8),
                                              .region = "us-east-1",
                                              .service = keys.service}));
    request.headers.emplace_back(
        "Authorization", "AWS4-HMAC-SHA256 Credential=" + keys.id + "/" + scope +
                             ", SignedHeaders=" + signed_headers +
                             ", Signature=" + Signature(key, StringToSign(date, scope, canonical)));
  }

  Keys CreateSession(std::vector<std::pair<std::string, std::string>> more = {}) {
    EXPECT_EQ(Send("GET", "/" + kBucket + "?session", Keys(), std::move(more)), "200");
    const auto* text = std::get_if<std::string>(&test_->exchange.response.body);
    const auto document = XmlDocument::Parse(text ? *text : "<none/>");
    const XmlElement credentials = document->root().Child("Credentials");
    expiration_ = credentials.Child("Expiration").text();
    return {credentials.Child("AccessKeyId").text(), credentials.Child("SecretAccessKey").text(),
            credentials.Child("SessionToken").text()};
  }

  // The requester becomes a user who may create sessions of one mode.
  void AllowSessions(const std::string& mode) {
    auto policies = std::make_shared<policy::PrincipalPolicies>();
    policies->identity.push_back(
        {"user/ann/p",
         policy::ParseIdentityPolicy(
             R"({"Statement":{"Effect":"Allow","Action":"s3express:CreateSession","Resource":"*",)"
             R"("Condition":{"StringEquals":{"s3express:SessionMode":")" +
             mode + "\"}}}}")
             .value()});
    directory_.user.identity.user_name = "ann";
    directory_.user.identity.arn = "arn:aws:iam::123456789012:user/ann";
    directory_.user.identity.policies = std::move(policies);
  }

  OneUser directory_;
  std::unique_ptr<s3::Handler> router_ = s3::MakeRouter({});
  std::unique_ptr<s3::FilterChain> auth_ = AuthChain(ExampleOptions(), directory_, *router_);
  std::unique_ptr<TestExchange> test_;
  std::string expiration_;
};

TEST_F(SessionsTest, LastsFiveMinutesOfTheNamespacesClock) {
  const Keys session = CreateSession();
  EXPECT_EQ(expiration_, "2013-05-24T00:05:00Z");
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", session, {}, "hello"), "200");
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "200");
  directory_.clock.Advance(std::chrono::seconds(299));
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "200");
  directory_.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "400 ExpiredToken");
}

TEST_F(SessionsTest, IsForOneBucket) {
  const Keys session = CreateSession();
  EXPECT_EQ(Send("GET", "/other--use1-az4--x-s3/k", session), "403 AccessDenied");
}

// The CRT client sends such a request if the endpoint is an IP address.
TEST_F(SessionsTest, WithoutABucketIsForAnyBucket) {
  ASSERT_EQ(Send("GET", "/?session=", Keys()), "200");
  EXPECT_EQ(test_->exchange.operation, "CreateSession");
  const auto* text = std::get_if<std::string>(&test_->exchange.response.body);
  const auto document = XmlDocument::Parse(text ? *text : "<none/>");
  const XmlElement credentials = document->root().Child("Credentials");
  const Keys session{credentials.Child("AccessKeyId").text(),
                     credentials.Child("SecretAccessKey").text(),
                     credentials.Child("SessionToken").text()};
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", session, {}, "hello"), "200");
  EXPECT_EQ(Send("GET", "/other--use1-az4--x-s3/k", session), "404 NoSuchBucket");
  EXPECT_EQ(Send("GET", "/plain-bucket/k", session), "400 AuthorizationHeaderMalformed");
}

TEST_F(SessionsTest, ReadOnlySessionCannotWrite) {
  const Keys session = CreateSession({{"x-amz-create-session-mode", "ReadOnly"}});
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", session, {}, "hello"), "403 AccessDenied");
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "404 NoSuchKey");
}

// Amazon S3 API Reference, CreateSession, x-amz-create-session-mode: without a mode, S3 "will first
// attempt to create a ReadWrite session, and if that is not allowed by permissions, it will attempt
// to create a ReadOnly session".
TEST_F(SessionsTest, WithoutAModeIsReadOnlyIfReadWriteIsNotAllowed) {
  AllowSessions("ReadOnly");
  const Keys session = CreateSession();
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "404 NoSuchKey");
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", session, {}, "hello"), "403 AccessDenied");
  const std::string target = "/" + kBucket + "?session";
  EXPECT_EQ(Send("GET", target, Keys(), {{"x-amz-create-session-mode", "ReadWrite"}}),
            "403 AccessDenied");
  AllowSessions("ReadWrite");
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", CreateSession(), {}, "hello"), "200");
  AllowSessions("None");
  EXPECT_EQ(Send("GET", target, Keys()), "403 AccessDenied");
}

TEST_F(SessionsTest, RefusesAModifiedToken) {
  Keys session = CreateSession();
  std::string raw = *Base64Decode(session.session_token);
  raw.back() = static_cast<char>(raw.back() ^ 1);
  const std::string good = std::exchange(session.session_token, Base64Encode(AsBytes(raw)));
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "400 InvalidToken");
  session.session_token = "TESTTOKEN==";
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "400 InvalidToken");
  session.session_token = good;
  session.id = kExampleKey;
  session.secret = kExampleSecret;
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "400 InvalidToken")
      << "not the access key of the session";
}

TEST_F(SessionsTest, RequestsAreSignedWithTheSessionsSecret) {
  Keys session = CreateSession();
  session.secret[0] = session.secret[0] == 'A' ? 'B' : 'A';
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "403 SignatureDoesNotMatch");
}

TEST_F(SessionsTest, EndsWithItsOwnersKey) {
  const Keys session = CreateSession();
  directory_.user.active = false;
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "403 InvalidAccessKeyId");
  directory_.user.active = true;
  directory_.user.secret_access_key = "another";
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "400 InvalidToken");
}

// As with the SDK option "disable session auth".
TEST_F(SessionsTest, OwnKeysWorkWithoutASession) {
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", Keys(), {}, "hello"), "200");
  EXPECT_EQ(Send("PUT", "/" + kBucket + "/k", Keys{.service = "s3"}, {}, "hello"),
            "400 AuthorizationHeaderMalformed");
  directory_.user.session_token = "temporary";
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", Keys()), "403 InvalidAccessKeyId");
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", Keys(), {{"x-amz-security-token", "temporary"}}),
            "200");
}

TEST_F(SessionsTest, WorksOnTheRegionalEndpoint) {
  const Keys session = CreateSession();
  EXPECT_EQ(Send("GET", "/" + kBucket + "?policy", session), "404 NoSuchBucketPolicy");
  EXPECT_EQ(Send("DELETE", "/" + kBucket, session), "204");
  EXPECT_EQ(Send("GET", "/" + kBucket + "?session", session), "400 InvalidRequest");
}

TEST_F(SessionsTest, ExpiresUnderModeParse) {
  AuthOptions options = ExampleOptions();
  options.mode = Mode::kParse;
  auth_ = AuthChain(options, directory_, *router_);
  const Keys session = CreateSession();
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "404 NoSuchKey");
  EXPECT_EQ(Send("GET", "/other--use1-az4--x-s3/k", session), "403 AccessDenied");
  directory_.clock.Advance(std::chrono::minutes(5));
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "400 ExpiredToken");
}

TEST_F(SessionsTest, EveryTokenIsAcceptedUnderModeOff) {
  AuthOptions options = ExampleOptions();
  options.mode = Mode::kOff;
  auth_ = AuthChain(options, directory_, *router_);
  Keys session = CreateSession();
  EXPECT_FALSE(session.session_token.empty());
  session.session_token = "any";
  EXPECT_EQ(Send("GET", "/" + kBucket + "/k", session), "404 NoSuchKey");
}

}  // namespace
}  // namespace penstock::emulator::auth
