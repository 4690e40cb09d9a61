// Mode::kOff through the whole handler: claims are ignored, bodies are still decoded.
#include "emulator/auth/unchecked.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

class UncheckedTest : public testing::Test {
 protected:
  void Handle(TestRequest request) {
    AuthOptions options = ExampleOptions();
    options.mode = Mode::kOff;
    router_ = RecordingRouter();
    auth_ = AuthChain(options, directory_, router_);
    test_ = std::make_unique<TestExchange>(std::move(request));
    auth_->Handle(test_->exchange);
  }
  bool Admits(TestRequest request) {
    Handle(std::move(request));
    return router_.calls == 1 && router_.identity.owner_id == directory_.user.identity.owner_id &&
           router_.space == directory_.space;
  }
  static TestRequest Plain(std::string target, std::string host = "localhost") {
    return {.method = "GET",
            .target = std::move(target),
            .headers = {{"Host", std::move(host)}},
            .body = {}};
  }
  static TestRequest Chunked(const std::string& kind, std::string body) {
    return {.method = "PUT",
            .target = "/b/k",
            .headers = {{"Host", "localhost"},
                        {"x-amz-content-sha256", kind},
                        {"x-amz-decoded-content-length", "5"}},
            .body = std::move(body)};
  }
  std::string Region(TestRequest request) {
    Handle(std::move(request));
    return test_->exchange.signing_region;
  }
  std::size_t ParametersLeft() const { return test_->exchange.target.query.size(); }

  OneUser directory_;
  RecordingRouter router_;
  std::unique_ptr<s3::FilterChain> auth_;
  std::unique_ptr<TestExchange> test_;
};

const std::string kSignature(64, '0');

TEST_F(UncheckedTest, EveryRequestHasTheDefaultIdentity) {
  EXPECT_TRUE(Admits(Plain("/b/k")));
  EXPECT_EQ(router_.identity.access_key_id, kExampleKey);
  EXPECT_EQ(router_.operation, "GetObject");
}

TEST_F(UncheckedTest, ClaimsAreIgnored) {
  TestRequest request = ExampleGet();
  for (const char* claim :
       {"nonsense", "AWS a:b", "AWS4-HMAC-SHA256 Credential=x", "AWS4-HMAC-SHA256 Credential="}) {
    *request.Header("Authorization") = claim;
    EXPECT_TRUE(Admits(request)) << claim;
  }
  directory_.clock.Advance(std::chrono::hours(24 * 365));
  EXPECT_TRUE(Admits(ExampleGet())) << "expired";
  EXPECT_TRUE(Admits(Plain("/b/k?X-Amz-Signature=1&Signature=2"))) << "two mechanisms";
  directory_.user.secret_access_key = "another";
  directory_.user.active = false;
  EXPECT_TRUE(Admits(ExampleGet())) << "unknown key";
}

TEST_F(UncheckedTest, PayloadHashIsNotVerified) {
  TestRequest request = ExampleGet();
  request.method = "PUT";
  request.body = "anything";
  EXPECT_TRUE(Admits(request));
  EXPECT_EQ(*router_.body, "anything");
  *request.Header("x-amz-content-sha256") = "no hash";
  EXPECT_TRUE(Admits(request));
}

TEST_F(UncheckedTest, DecodesSignedChunksWithoutVerifyingThem) {
  const std::string first =
      "5;chunk-signature=" + kSignature + "\r\nhello\r\n0;chunk-signature=" + kSignature + "\r\n";
  ASSERT_TRUE(Admits(Chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", first + "\r\n")));
  EXPECT_EQ(*router_.body, "hello");

  TestRequest request =
      Chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
              first + "x-amz-checksum-crc32:NhCmhg==\r\nx-amz-trailer-signature:" + kSignature +
                  "\r\n\r\n");
  request.headers.emplace_back("x-amz-trailer", "x-amz-checksum-crc32");
  ASSERT_TRUE(Admits(request));
  EXPECT_EQ(*router_.body, "hello");
  ASSERT_EQ(router_.trailers.size(), 1u) << "the router checks it";
  EXPECT_EQ(router_.trailers[0].second, "NhCmhg==");
}

TEST_F(UncheckedTest, RefusesMalformedFraming) {
  const auto code = [this](const std::string& kind, const std::string& body) {
    Handle(Chunked(kind, body));
    return router_.body.ok() ? std::string() : router_.body.error().code;
  };
  const std::string kind = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  EXPECT_EQ(code(kind, "5\r\nhello\r\n0\r\n\r\n"), "IncompleteBody") << "a signature is missing";
  EXPECT_EQ(code(kind, "5;chunk-signature=" + kSignature + "\r\nhel"), "IncompleteBody");
  EXPECT_EQ(code(kind, "0;chunk-signature=" + kSignature + "\r\n\r\n"), "IncompleteBody")
      << "shorter than declared";
  EXPECT_EQ(code("STREAMING-UNSIGNED-PAYLOAD-TRAILER", "5\r\nhello\r\n0\r\nx:y\r\n\r\n"),
            "MalformedTrailerError");
}

TEST_F(UncheckedTest, RefusesUnknownFraming) {
  Handle(Chunked("STREAMING-SOMETHING", "hello"));
  EXPECT_EQ(router_.calls, 0);
  EXPECT_EQ(test_->exchange.response.error_code, "InvalidArgument");
}

TEST_F(UncheckedTest, RegionComesFromTheClaim) {
  TestRequest request = Plain("/b/k");
  request.headers.emplace_back(
      "Authorization", AuthorizationHeader("20130524/eu-west-1/s3/aws4_request", "host", "0"));
  EXPECT_EQ(Region(request), "eu-west-1");
  EXPECT_EQ(Region(Plain("/b/k?X-Amz-Credential=a%2F20130524%2Feu-north-1%2Fs3%2Faws4_request")),
            "eu-north-1");
  EXPECT_EQ(Region(Plain("/b/k?X-Amz-Credential=a%2Fb")), "");
}

TEST_F(UncheckedTest, WithoutAClaimTheRegionIsTheHosts) {
  EXPECT_EQ(Region(Plain("/b/k", "s3.eu-west-1.amazonaws.com")), "eu-west-1");
  EXPECT_EQ(Region(Plain("/b/k")), "");
}

TEST_F(UncheckedTest, VersionTwoClaimIsValidInAnyRegion) {
  EXPECT_EQ(Region(Plain("/b/k?AWSAccessKeyId=a&Signature=b&Expires=1")), "us-east-1");
}

TEST_F(UncheckedTest, EmptySignatureParametersAreNoSubResources) {
  EXPECT_TRUE(
      Admits(Plain("/b/k?X-Amz-Signature=&x-amz-date&Signature&Expires=&AWSAccessKeyId=&acl")));
  EXPECT_EQ(ParametersLeft(), 1u);
  EXPECT_EQ(router_.operation, "GetObjectAcl");
  EXPECT_TRUE(Admits(Plain("/b/k?X-Amz-Signature=s&X-Amz-S3session-Token=t")));
  EXPECT_EQ(ParametersLeft(), 1u) << "the rest marks a presigned request for the router";
}

TEST_F(UncheckedTest, AmzParametersOfAPresignedUrlAreHeaders) {
  TestRequest request = Plain("/b/k?X-Amz-Algorithm=a&x-amz-acl=private");
  request.method = "PUT";
  ASSERT_TRUE(Admits(request));
  EXPECT_EQ(router_.headers.back(), (std::pair<std::string, std::string>("x-amz-acl", "private")));
}

}  // namespace
}  // namespace penstock::emulator::auth
