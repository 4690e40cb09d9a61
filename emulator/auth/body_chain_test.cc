#include "emulator/auth/body_chain.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

// SHA-256 of "hello".
constexpr char kHelloSha256[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
constexpr char kHelloChunks[] = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";

struct Claimed {
  PayloadKind kind;
  std::string_view claim;
};
constexpr Claimed kUnsignedTrailer = {PayloadKind::kStreamingUnsignedTrailer,
                                      "STREAMING-UNSIGNED-PAYLOAD-TRAILER"};

// Returns the body that the router would read, or the earlier error.
Result<std::string> Read(const std::string& operation, Claimed claimed, TestRequest request) {
  TestExchange test(std::move(request));
  test.exchange.operation = operation;
  Admission admission;
  admission.payload_kind = claimed.kind;
  admission.payload_claim = claimed.claim;
  PENSTOCK_TRY(WrapBody(test.exchange, std::move(admission)));
  PENSTOCK_TRY(DrainUnused(test.exchange));
  return ReadAll(*test.exchange.body);
}

TestRequest Put(std::string body, std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {
      .method = "PUT", .target = "/b/k", .headers = std::move(headers), .body = std::move(body)};
}

std::vector<std::pair<std::string, std::string>> TrailerHeaders() {
  return {{"x-amz-decoded-content-length", "5"}, {"x-amz-trailer", "X-Amz-Checksum-Crc32"}};
}

TEST(BodyChainTest, PassesAnUnsignedBody) {
  EXPECT_EQ(*Read("PutObject", {PayloadKind::kUnsigned, "UNSIGNED-PAYLOAD"}, Put("hello")),
            "hello");
}

TEST(BodyChainTest, ChecksAHash) {
  EXPECT_EQ(*Read("PutObject", {PayloadKind::kHash, kHelloSha256}, Put("hello")), "hello");
  EXPECT_EQ(Read("PutObject", {PayloadKind::kHash, kHelloSha256}, Put("jello")).error().code,
            "XAmzContentSHA256Mismatch");
}

TEST(BodyChainTest, ChecksTheHashOfAnEmptyBodyBeforeTheFirstRead) {
  TestExchange test(Put(""));
  test.exchange.operation = "PutObject";
  Admission admission;
  admission.payload_kind = PayloadKind::kHash;
  admission.payload_claim = kHelloSha256;
  EXPECT_EQ(WrapBody(test.exchange, std::move(admission)).error().code,
            "XAmzContentSHA256Mismatch");
}

TEST(BodyChainTest, DecodesStreamingChunks) {
  EXPECT_EQ(*Read("PutObject", kUnsignedTrailer, Put(kHelloChunks, TrailerHeaders())), "hello");
  EXPECT_EQ(*Read("UploadPart", kUnsignedTrailer, Put(kHelloChunks, TrailerHeaders())), "hello");
}

TEST(BodyChainTest, RefusesStreamingChunksForOtherOperations) {
  EXPECT_EQ(Read("PutObjectTagging", kUnsignedTrailer, Put(kHelloChunks, TrailerHeaders()))
                .error()
                .message,
            "The value of x-amz-content-sha256 header is invalid.");
}

TEST(BodyChainTest, RequiresTheDecodedLength) {
  const auto read = Read("PutObject", kUnsignedTrailer,
                         Put(kHelloChunks, {{"x-amz-trailer", "x-amz-checksum-crc32"}}));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, "MissingContentLength");
  EXPECT_EQ(read.error().http_status, 411);
}

TEST(BodyChainTest, RefusesAnInvalidDecodedLength) {
  EXPECT_EQ(Read("PutObject", kUnsignedTrailer,
                 Put(kHelloChunks, {{"x-amz-decoded-content-length", "5x"}}))
                .error()
                .code,
            "InvalidArgument");
}

TEST(BodyChainTest, RefusesAnUnsupportedTrailer) {
  EXPECT_EQ(Read("PutObject", kUnsignedTrailer,
                 Put(kHelloChunks,
                     {{"x-amz-decoded-content-length", "5"}, {"x-amz-trailer", "x-amz-meta-a"}}))
                .error()
                .message,
            "The value specified in the x-amz-trailer header is not supported");
}

TEST(BodyChainTest, RefusesAnEmptyTrailerName) {
  EXPECT_EQ(Read("PutObject", kUnsignedTrailer,
                 Put(kHelloChunks, {{"x-amz-decoded-content-length", "5"}, {"x-amz-trailer", ""}}))
                .error()
                .code,
            "MalformedTrailerError");
}

TEST(BodyChainTest, DecodesABodyMarkedOnlyByContentEncoding) {
  auto headers = TrailerHeaders();
  headers.emplace_back("Content-Encoding", "gzip, aws-chunked");
  EXPECT_EQ(
      *Read("PutObject", {PayloadKind::kUnsigned, "UNSIGNED-PAYLOAD"}, Put(kHelloChunks, headers)),
      "hello");
}

TEST(BodyChainTest, DoesNotChangeAnUnmarkedBody) {
  EXPECT_EQ(*Read("PutObject", {PayloadKind::kUnsigned, "UNSIGNED-PAYLOAD"},
                  Put(kHelloChunks, TrailerHeaders())),
            kHelloChunks);
}

TEST(DrainUnusedTest, ChecksAnUnusedBody) {
  TestRequest request = Put("jello");
  request.method = "DELETE";
  EXPECT_EQ(Read("DeleteObject", {PayloadKind::kHash, kHelloSha256}, request).error().code,
            "XAmzContentSHA256Mismatch");
}

TEST(DrainUnusedTest, RefusesALongUnusedBody) {
  TestRequest request = Put(std::string((1 << 20) + 1, 'x'));
  request.method = "GET";
  EXPECT_EQ(Read("GetObject", {PayloadKind::kUnsigned, "UNSIGNED-PAYLOAD"}, request).error().code,
            "UnexpectedContent");
}

}  // namespace
}  // namespace penstock::emulator::auth
