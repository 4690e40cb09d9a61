#include "emulator/auth/body/payload.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

// SHA-256 of "hello".
constexpr char kHelloSha256[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

TEST(PayloadTest, RecognizesEveryValueOfS3) {
  EXPECT_EQ(*ClassifyPayload(kHelloSha256), PayloadKind::kHash);
  EXPECT_EQ(*ClassifyPayload("UNSIGNED-PAYLOAD"), PayloadKind::kUnsigned);
  EXPECT_EQ(*ClassifyPayload("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), PayloadKind::kStreamingSigned);
  EXPECT_EQ(*ClassifyPayload("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"),
            PayloadKind::kStreamingSignedTrailer);
  EXPECT_EQ(*ClassifyPayload("STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
            PayloadKind::kStreamingUnsignedTrailer);
}

TEST(PayloadTest, RefusesAnythingElse) {
  for (const char* claim : {"", "unsigned-payload", "abc", "STREAMING-UNSIGNED-PAYLOAD"}) {
    const auto kind = ClassifyPayload(claim);
    ASSERT_FALSE(kind.ok()) << claim;
    EXPECT_EQ(kind.error().code, "InvalidArgument");
    EXPECT_EQ(kind.error().details.at(0).second, "x-amz-content-sha256");
  }
}

TEST(PayloadTest, ReportsAsymmetricChunksAsNotImplemented) {
  EXPECT_EQ(ClassifyPayload("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER").error().code,
            "NotImplemented");
}

TEST(HashedBodyTest, DeliversABodyWithTheClaimedHash) {
  TextBody inner("hello", 2);
  HashedBody body(inner, kHelloSha256);
  EXPECT_EQ(*ReadAll(body), "hello");
  EXPECT_EQ(body.Length(), 5u);
}

TEST(HashedBodyTest, RefusesABodyWithAnotherHash) {
  TextBody inner("jello", 2);
  HashedBody body(inner, kHelloSha256);
  const auto text = ReadAll(body);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().code, "XAmzContentSHA256Mismatch");
  EXPECT_EQ(text.error().http_status, 400);
  EXPECT_EQ(text.error().details.at(0),
            (std::pair<std::string, std::string>("ClientComputedContentSHA256", kHelloSha256)));
  EXPECT_EQ(text.error().details.at(1).first, "S3ComputedContentSHA256");
  EXPECT_FALSE(ReadAll(body).ok()) << "the error must be permanent";
}

}  // namespace
}  // namespace penstock::emulator::auth
