// The filter that authenticates requests: what it accepts, what it rejects, and which query
// parameters it converts to headers.
#include "emulator/auth/auth.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/xml/xml.h"
#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {
namespace {

class AuthTest : public testing::Test {
 protected:
  const s3::Response& Handle(TestRequest request) {
    auth_ = AuthChain(options_, directory_, router_);
    test_ = std::make_unique<TestExchange>(std::move(request));
    auth_->Handle(test_->exchange);
    return test_->exchange.response;
  }
  static std::string CodeOf(const s3::Response& response) {
    const auto* text = std::get_if<std::string>(&response.body);
    if (!text) return "";
    const auto document = XmlDocument::Parse(*text);
    return document.ok() ? document->root().Child("Code").text() : *text;
  }
  // Presigns a URL with additional parameters. AWS publishes no example of such URLs.
  static TestRequest Presign(const std::string& method, const std::string& path,
                             const std::string& more,
                             std::string_view payload_hash = "UNSIGNED-PAYLOAD") {
    const std::string query =
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + std::string(kExampleKey) +
        "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=60"
        "&X-Amz-SignedHeaders=host&" +
        more;
    TestRequest request{
        .method = method, .target = path, .headers = {{"Host", "localhost"}}, .body = {}};
    const TestExchange test(request);
    const std::string canonical = CanonicalRequest({.head = test.exchange.request,
                                                    .raw_path = path,
                                                    .raw_query = query,
                                                    .query_leave_out = "",
                                                    .signed_headers = {"host"},
                                                    .payload_hash = payload_hash});
    const Sha256Digest key = DeriveSigningKey(
        {.secret = kExampleSecret, .day = "20130524", .region = "us-east-1", .service = "s3"});
    request.target =
        path + "?" + query + "&X-Amz-Signature=" +
        Signature(HmacSha256Key(key), StringToSign(kExampleDate, kExampleScope, canonical));
    return request;
  }

  AuthOptions options_ = ExampleOptions();
  OneUser directory_;
  RecordingRouter router_;
  std::unique_ptr<s3::FilterChain> auth_;
  std::unique_ptr<TestExchange> test_;
};

TEST_F(AuthTest, ChecksAPayloadHashInAPresignedQueryInEitherSpelling) {
  // Regression: x-amz-content-sha256, the spelling of SDKs that move headers to the query, was
  // ignored, so any body was accepted.
  const std::string hash = HexEncode(Sha256(AsBytes("hello")));
  for (const std::string name : {"X-Amz-Content-Sha256", "x-amz-content-sha256"}) {
    TestRequest request = Presign("PUT", "/bucket/key", name + "=" + hash, hash);
    request.body = "hello";
    EXPECT_EQ(CodeOf(Handle(request)), "") << name;
    EXPECT_TRUE(router_.body.ok()) << name;
    request.body = "other";
    EXPECT_EQ(CodeOf(Handle(request)), "") << name;
    ASSERT_FALSE(router_.body.ok()) << name;
    EXPECT_EQ(router_.body.error().code, "XAmzContentSHA256Mismatch") << name;
  }
}

TEST_F(AuthTest, ChecksATokenInAPresignedQueryInEitherSpelling) {
  for (const std::string name : {"X-Amz-Security-Token", "x-amz-security-token"}) {
    EXPECT_EQ(CodeOf(Handle(Presign("GET", "/bucket/key", name + "=unknown"))), "InvalidToken")
        << name;
  }
}

TEST_F(AuthTest, ReportsTheSignatureAndTheVerdict) {
  const auto signature = [&](TestRequest request) {
    Handle(std::move(request));
    return std::pair(test_->exchange.signature.version, test_->exchange.signature.verdict);
  };
  using Version = SignatureVersion;
  using Verdict = SignatureVerdict;
  TestRequest forged = ExampleGet();
  forged.Header("Authorization")->back() = 'x';
  const TestRequest unsigned_request{
      .method = "GET", .target = "/b/k", .headers = {{"Host", "localhost"}}, .body = {}};
  EXPECT_EQ(signature(ExampleGet()), std::pair(Version::kV4, Verdict::kValid));
  EXPECT_EQ(signature(forged), std::pair(Version::kV4, Verdict::kInvalid));
  EXPECT_EQ(signature(Presign("GET", "/bucket/key", "")),
            std::pair(Version::kV4Query, Verdict::kValid));
  EXPECT_EQ(signature(unsigned_request), std::pair(Version::kNone, Verdict::kUnverified));
  directory_.user.active = false;
  EXPECT_EQ(signature(ExampleGet()), std::pair(Version::kV4, Verdict::kInvalid));
  directory_.user.active = true;
  directory_.space = nullptr;
  EXPECT_EQ(signature(ExampleGet()), std::pair(Version::kV4, Verdict::kUnverified))
      << "the namespace cannot be opened";
}

TEST_F(AuthTest, UncheckedSignaturesAreUnverified) {
  for (const Mode mode : {Mode::kParse, Mode::kOff}) {
    options_.mode = mode;
    Handle(ExampleGet());
    EXPECT_EQ(test_->exchange.signature.version, SignatureVersion::kV4);
    EXPECT_EQ(test_->exchange.signature.verdict, SignatureVerdict::kUnverified);
    Handle(Presign("GET", "/bucket/key", ""));
    EXPECT_EQ(test_->exchange.signature.version, SignatureVersion::kV4Query);
    EXPECT_EQ(test_->exchange.signature.verdict, SignatureVerdict::kUnverified);
  }
}

TEST_F(AuthTest, SignatureParametersAreCaseSensitive) {
  TestRequest request = Presign("GET", "/bucket/key", "");
  for (const char* name :
       {"X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders"}) {
    TestRequest other = request;
    const std::size_t at = other.target.find(name);
    other.target[at] = 'x';
    EXPECT_EQ(CodeOf(Handle(other)), "AuthorizationQueryParametersError") << name;
  }
}

TEST_F(AuthTest, SetsIdentityNamespaceAndOperation) {
  Handle(ExampleGet());
  EXPECT_EQ(router_.calls, 1);
  EXPECT_EQ(router_.operation, "GetObject");
  EXPECT_EQ(router_.identity.owner_id, std::string(64, 'a'));
  EXPECT_EQ(router_.space, directory_.space);
  EXPECT_EQ(test_->exchange.target.bucket.value, "examplebucket");
}

TEST_F(AuthTest, RejectsWithoutCallingTheRouter) {
  TestRequest request = ExampleGet();
  *request.Header("Range") = "bytes=0-8";
  const s3::Response& response = Handle(request);
  EXPECT_EQ(router_.calls, 0);
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(CodeOf(response), "SignatureDoesNotMatch");
  EXPECT_TRUE(test_->exchange.identity.anonymous()) << "an unverified name must not be used";
}

TEST_F(AuthTest, WrongRegionErrorHasTheRegionHeader) {
  options_.region = "eu-west-1";
  const s3::Response& response = Handle(ExampleGet());
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.Find("x-amz-bucket-region"), "eu-west-1");
}

TEST_F(AuthTest, RefusesASecondAuthorizationHeader) {
  const std::string authorization = *ExampleGet().Header("Authorization");
  for (const std::string& second : {authorization, std::string("AWS AKIAIOSFODNN7EXAMPLE:c2ln"),
                                    std::string("Bearer x"), std::string()}) {
    for (const std::string name : {"Authorization", "AUTHORIZATION"}) {
      TestRequest last = ExampleGet();
      last.headers.emplace_back(name, second);
      EXPECT_EQ(CodeOf(Handle(last)), "InvalidArgument") << second;
      TestRequest first = ExampleGet();
      first.headers.insert(first.headers.begin(), {name, second});
      EXPECT_EQ(CodeOf(Handle(first)), "InvalidArgument") << second;
    }
  }
  EXPECT_EQ(router_.calls, 0);
}

TEST_F(AuthTest, RefusesADuplicateAuthorizationComponent) {
  for (const std::string component : {"Credential=UNKNOWN/20130524/us-east-1/s3/aws4_request",
                                      "SignedHeaders=host", "Signature=00"}) {
    TestRequest request = ExampleGet();
    std::string& value = *request.Header("Authorization");
    value += ", " + component;
    EXPECT_EQ(CodeOf(Handle(request)), "AuthorizationHeaderMalformed") << component;
  }
  EXPECT_EQ(router_.calls, 0);
}

// Regression: the signature itself is not signed, so a second one was accepted.
TEST_F(AuthTest, RefusesASecondSignatureParameter) {
  const TestRequest presigned = Presign("GET", "/b/k", "x-id=GetObject");
  ASSERT_EQ(CodeOf(Handle(presigned)), "");
  ASSERT_EQ(router_.calls, 1);
  for (const std::string second :
       {"X-Amz-Signature=00", "x-amz-signature=00", "X%2DAmz-Signature=00", "X-Amz-Signature",
        "X-Amz-Date=20130524T000000Z", "X-Amz-Credential=x", "Signature=00"}) {
    TestRequest request = presigned;
    request.target += "&" + second;
    EXPECT_EQ(CodeOf(Handle(request)), "InvalidArgument") << second;
    TestRequest first = presigned;
    first.target.insert(first.target.find('?') + 1, second + "&");
    EXPECT_EQ(CodeOf(Handle(first)), "InvalidArgument") << second;
  }
  TestRequest with_header = presigned;
  with_header.headers.emplace_back("Authorization", *ExampleGet().Header("Authorization"));
  EXPECT_EQ(CodeOf(Handle(with_header)), "InvalidArgument");
  TestRequest signature_header = presigned;
  signature_header.headers.emplace_back("X-Amz-Signature", "00");
  EXPECT_EQ(CodeOf(Handle(signature_header)), "AccessDenied") << "an unsigned header";
  EXPECT_EQ(router_.calls, 1);
}

TEST_F(AuthTest, ErrorResponseToHeadHasNoBody) {
  TestRequest request = ExampleGet();
  request.method = "HEAD";
  const s3::Response& response = Handle(request);
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(CodeOf(response), "");
}

TEST_F(AuthTest, ConvertsSignedQueryParametersToHeaders) {
  Handle(Presign("PUT", "/b/k",
                 "x-amz-acl=private&x-amz-meta-A=one%20two&x-id=PutObject&X-Amz-Storage-Class="
                 "STANDARD_IA&x-amz-tagging=a%3D1&"
                 "x-amz-server-side-encryption-context=e30%3D&If-None-Match=%2A&Expires=0"));
  ASSERT_EQ(router_.calls, 1) << CodeOf(test_->exchange.response);
  using Header = std::pair<std::string, std::string>;
  // As recorded against Amazon S3.
  const std::vector<Header> expected = {{"Host", "localhost"},
                                        {"x-amz-acl", "private"},
                                        {"x-amz-meta-A", "one two"},
                                        {"If-None-Match", "*"},
                                        {"Expires", "0"}};
  EXPECT_EQ(router_.headers, expected);
  EXPECT_EQ(test_->exchange.operation, "PutObject");
  EXPECT_EQ(test_->exchange.target.key.value, "k") << "the exchange must be restored afterwards";
}

TEST_F(AuthTest, ConvertsQueryParametersWithoutVerificationToo) {
  options_.mode = Mode::kOff;
  Handle({.method = "PUT",
          .target = "/b/k?If-None-Match=%2A&X-Amz-Signature=s",
          .headers = {},
          .body = {}});
  ASSERT_EQ(router_.calls, 1);
  const std::vector<std::pair<std::string, std::string>> expected = {{"If-None-Match", "*"}};
  EXPECT_EQ(router_.headers, expected);
}

// A line break would split a response header.
TEST_F(AuthTest, RefusesControlCharactersInSignedQueryParameters) {
  EXPECT_EQ(CodeOf(Handle(Presign("PUT", "/b/k", "Content-Type=a%0D%0AX-Y%3A%20z"))),
            "InvalidArgument");
  EXPECT_EQ(router_.calls, 0);
}

// Responds asynchronously, when the test completes the response.
class DeferringRouter final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override {
    clock_ahead = exchange.clock_ahead;
    if (exchange.async == nullptr) return;
    pending.emplace(exchange.RespondLater());
  }
  void Finish(s3::Exchange& exchange) override {
    forwarded = exchange.request.Find("x-amz-acl").has_value();
    exchange.response.status = 299;
  }

  std::chrono::nanoseconds clock_ahead{};
  std::optional<s3::PendingResponse> pending;
  bool forwarded = false;
};

class CountingWire final : public s3::AsyncResponse {
 public:
  store::Executor& executor() override { std::abort(); }  // DeferringRouter adds no tasks
  void Complete() noexcept override { ++completed; }

  int completed = 0;
};

// Regression: for such a request the exchange was copied field by field, without `clock_ahead` and
// `async`.
TEST_F(AuthTest, ForwardedQueryKeepsClockAndAsyncResponse) {
  DeferringRouter router;
  CountingWire wire;
  auth_ = AuthChain(options_, directory_, router);
  TestExchange test(Presign("PUT", "/b/k", "x-amz-acl=private"));
  test.exchange.clock_ahead = std::chrono::seconds(5);
  test.exchange.async = &wire;
  auth_->Handle(test.exchange);
  EXPECT_EQ(router.clock_ahead, std::chrono::seconds(5));
  ASSERT_TRUE(router.pending) << "the exchange has no async response";
  ASSERT_TRUE(test.exchange.pending);
  router.pending.reset();
  EXPECT_EQ(wire.completed, 1);
  test.exchange.pending = false;
  auth_->Finish(test.exchange);
  EXPECT_EQ(test.exchange.response.status, 299);
  EXPECT_TRUE(router.forwarded);
  EXPECT_FALSE(test.exchange.request.Find("x-amz-acl")) << "the client did not send the header";
}

TEST_F(AuthTest, CopySourceInTheQueryIsACopyObject) {
  Handle(Presign("PUT", "/b/k", "x-amz-copy-source=%2Fb%2Fother"));
  ASSERT_EQ(router_.calls, 1) << CodeOf(test_->exchange.response);
  EXPECT_EQ(router_.operation, "CopyObject");
}

TEST_F(AuthTest, DoesNotConvertParametersOfRequestsSignedInHeaders) {
  TestRequest request = ExampleGet();
  request.target += "?x-amz-acl=private";
  Handle(request);
  EXPECT_EQ(router_.calls, 0) << "the parameter was not signed";
}

TEST_F(AuthTest, UsesTheUserThatAnEarlierFilterFound) {
  auth_ = AuthChain(options_, directory_, router_);
  TestExchange test(ExampleGet());
  ASSERT_NE(FindUserOnce(directory_, test.exchange, kExampleKey), nullptr);
  directory_.user.secret_access_key = "changed in between";
  auth_->Handle(test.exchange);
  EXPECT_EQ(router_.calls, 1) << CodeOf(test.exchange.response);
  EXPECT_EQ(directory_.lookups, 1);
  EXPECT_EQ(FindUserOnce(directory_, test.exchange, "another key"), nullptr);
  EXPECT_EQ(directory_.lookups, 2);
}

TEST_F(AuthTest, RestoresTheRequestBody) {
  TestRequest request = ExampleGet();
  auth_ = AuthChain(options_, directory_, router_);
  TestExchange test(request);
  const s3::BodyReader* const wire = test.exchange.body;
  auth_->Handle(test.exchange);
  EXPECT_EQ(test.exchange.body, wire);
}

}  // namespace
}  // namespace penstock::emulator::auth
