#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Body;
using testing::Harness;
using testing::Reply;

class ChecksumClaimsTest : public ::testing::Test {
 protected:
  ChecksumClaimsTest() { s3_.Send("PUT /bucket"); }
  Reply Put(const std::string& headers, Body body = {.text = "hello"}) {
    return s3_.Send("PUT /bucket/k\n" + headers, std::move(body));
  }
  Harness s3_;
};

struct Claim {
  const char* name;
  // Values of "hello". SHA512 was computed with hashlib, the xxHash algorithms with awscrt 0.38.1.
  const char* value;
};
constexpr Claim kClaims[] = {
    {"crc32", "NhCmhg=="},
    {"crc32c", "mnG7TA=="},
    {"crc64nvme", "M3eFcAZSQlc="},
    {"sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00="},
    {"sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},
    {"sha512",
     "m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw=="},
    {"md5", "XUFAKrxLKna5cZ2REBfFkg=="},
    {"xxhash64", "JseCfYifbaM="},
    {"xxhash3", "lVXoVVxi3P0="},
    {"xxhash128", "tenBrQcbPn/Hec+qXlI4GA=="}};

TEST_F(ChecksumClaimsTest, HeadersOfAllAlgorithmsAreVerifiedAndReturned) {
  for (const Claim& claim : kClaims) {
    const std::string header = std::string("x-amz-checksum-") + claim.name;
    const Reply good = Put(header + ": " + claim.value);
    EXPECT_EQ(good.Outcome(), "200") << claim.name;
    EXPECT_EQ(good.Header(header), claim.value);
    EXPECT_EQ(s3_.Send("GET /bucket/k\nx-amz-checksum-mode: ENABLED").Header(header), claim.value);
    const Reply bad = Put(header + ": " + claim.value, {.text = "jello"});
    EXPECT_EQ(bad.Outcome(), "400 BadDigest") << claim.name;
    EXPECT_TRUE(
        bad.Element("Message").ends_with(" you specified did not match the calculated checksum."));
  }
  EXPECT_EQ(Put("x-amz-checksum-crc32: NhCmhg==", {.text = "jello"}).Element("Message"),
            "The CRC32 you specified did not match the calculated checksum.");
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "hello");
}

TEST_F(ChecksumClaimsTest, TrailersAreVerifiedAndReturned) {
  for (const Claim& claim : kClaims) {
    const std::string header = std::string("x-amz-checksum-") + claim.name;
    const Reply good =
        Put("x-amz-trailer: " + header, {.text = "hello", .trailers = {{header, claim.value}}});
    EXPECT_EQ(good.Outcome(), "200") << claim.name;
    EXPECT_EQ(good.Header(header), claim.value);
    const Reply bad =
        Put("x-amz-trailer: " + header, {.text = "jello", .trailers = {{header, claim.value}}});
    EXPECT_EQ(bad.Outcome(), "400 BadDigest") << claim.name;
  }
}

TEST_F(ChecksumClaimsTest, TrailersMustMatchTheAnnouncement) {
  EXPECT_EQ(Put("x-amz-trailer: x-amz-checksum-crc32").Outcome(), "400 MalformedTrailerError");
  EXPECT_EQ(Put("x-amz-trailer: x-amz-checksum-crc32",
                {.text = "hello", .trailers = {{"x-amz-checksum-crc32c", "mnG7TA=="}}})
                .Outcome(),
            "400 MalformedTrailerError");
  EXPECT_EQ(
      Put("x-amz-meta-a: 1", {.text = "hello", .trailers = {{"x-amz-checksum-crc32", "NhCmhg=="}}})
          .Outcome(),
      "400 MalformedTrailerError");
  EXPECT_EQ(Put("x-amz-trailer: x-amz-checksum-crc32",
                {.text = "hello", .trailers = {{"x-amz-checksum-crc32", "x"}}})
                .Element("Message"),
            "Value for x-amz-checksum-crc32 trailing header is invalid.");
  EXPECT_EQ(Put("x-amz-trailer: ").Outcome(), "400 MalformedTrailerError");
  for (const char* name : {"x-amz-checksum-foo", "x-amz-meta-a", "x-amz-checksum-type"}) {
    EXPECT_EQ(Put(std::string("x-amz-trailer: ") + name).Element("Message"),
              "The value specified in the x-amz-trailer header is not supported");
  }
}

// Regression: a presigned PUT with a checksum in its query was refused for several checksums.
TEST_F(ChecksumClaimsTest, QueryParametersThatAreAlsoHeadersAreOneClaim) {
  const std::string target =
      "PUT "
      "/bucket/"
      "k?x-amz-checksum-crc32=AAAAAA%3D%3D&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=c"
      "&X-Amz-Date=d&X-Amz-Expires=1&X-Amz-SignedHeaders=host&X-Amz-Signature=s";
  EXPECT_EQ(s3_.Send(target, {.text = "hello"}).Outcome(), "400 BadDigest");
  EXPECT_EQ(s3_.Send(target + "\nx-amz-checksum-crc32: AAAAAA==", {.text = "hello"}).Outcome(),
            "400 BadDigest");
}

TEST_F(ChecksumClaimsTest, MalformedClaimsAreInvalidRequests) {
  struct Case {
    const char* headers;
    const char* message;
  };
  const Case cases[] = {
      {"x-amz-checksum-crc32: NhCmhg", "Value for x-amz-checksum-crc32 header is invalid."},
      {"x-amz-checksum-sha256: NhCmhg==", "Value for x-amz-checksum-sha256 header is invalid."},
      {"x-amz-checksum-crc32: ", "Value for x-amz-checksum-crc32 header is invalid."},
      {"x-amz-checksum-crc32: NhCmhg==\nx-amz-checksum-crc32c: mnG7TA==",
       "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed."},
      {"x-amz-checksum-crc32: NhCmhg==\nx-amz-trailer: x-amz-checksum-crc32",
       "Expecting a single x-amz-checksum- header"},
      {"x-amz-checksum-foo: NhCmhg==",
       "The algorithm type you specified in x-amz-checksum- header is invalid."},
      {"x-amz-sdk-checksum-algorithm: CRC32",
       "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or "
       "x-amz-trailer headers were "
       "found."},
      {"x-amz-sdk-checksum-algorithm: SHA1\nx-amz-checksum-crc32: NhCmhg==",
       "Value for x-amz-sdk-checksum-algorithm header is invalid."},
  };
  for (const Case& c : cases) {
    const Reply reply = Put(c.headers);
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << c.headers;
    EXPECT_EQ(reply.Element("Message"), c.message) << c.headers;
    EXPECT_EQ(reply.body_bytes_read, 0u) << c.headers;
  }
}

TEST_F(ChecksumClaimsTest, DigestsMustHaveTheAlgorithmsLength) {
  for (const Claim& claim : kClaims) {
    const std::string header = std::string("x-amz-checksum-") + claim.name;
    const Reply reply = Put(header + ": AAAA");  // Three bytes.
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << claim.name;
    EXPECT_EQ(reply.Element("Message"), "Value for " + header + " header is invalid.");
  }
}

TEST_F(ChecksumClaimsTest, SdkAlgorithmThatMatchesATrailerIsAccepted) {
  EXPECT_EQ(Put("x-amz-sdk-checksum-algorithm: CRC32\nx-amz-trailer: x-amz-checksum-crc32",
                {.text = "hello", .trailers = {{"x-amz-checksum-crc32", "NhCmhg=="}}})
                .Outcome(),
            "200");
}

}  // namespace
}  // namespace penstock::emulator::s3
