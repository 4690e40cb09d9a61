#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Body;
using testing::Harness;
using testing::Reply;

class PutObjectTest : public ::testing::Test {
 protected:
  PutObjectTest() { s3_.Send("PUT /bucket"); }
  Harness s3_;
};

// An object without a checksum from the client gets a CRC64NVME.
TEST_F(PutObjectTest, ReturnsETagAndDefaultChecksum) {
  const Reply reply = s3_.Send("PUT /bucket/k", "hello");
  EXPECT_EQ(reply.Outcome(), "200");
  EXPECT_EQ(reply.Header("ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(reply.Header("x-amz-checksum-crc64nvme"), "M3eFcAZSQlc=");
  EXPECT_EQ(reply.Header("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(reply.Header("x-amz-server-side-encryption"), "AES256");
  EXPECT_EQ(reply.Header("x-amz-version-id"), "<absent>");
  EXPECT_EQ(reply.Header("Content-Type"), "<absent>");
  EXPECT_EQ(reply.body, "");
}

TEST_F(PutObjectTest, BodiesLargerThanABlockAreStored) {
  std::string big(1'000'003, 'x');
  for (std::size_t i = 0; i < big.size(); i += 97) big[i] = static_cast<char>('a' + i % 26);
  EXPECT_EQ(s3_.Send("PUT /bucket/big", big).Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket/big").body, big);
}

TEST_F(PutObjectTest, LengthRules) {
  EXPECT_EQ(s3_.Send("PUT /bucket/k", Body{.text = "x", .declare_length = false}).Outcome(),
            "411 MissingContentLength");
  const Reply large = s3_.Send("PUT /bucket/k", Body{.text = "x", .length = 5'368'709'121});
  EXPECT_EQ(large.Outcome(), "400 EntityTooLarge");
  EXPECT_EQ(large.Element("ProposedSize"), "5368709121");
  EXPECT_EQ(large.Element("MaxSizeAllowed"), "5368709120");
  EXPECT_EQ(large.body_bytes_read, 0u);
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "404 NoSuchKey");
}

TEST_F(PutObjectTest, IncompleteBodiesAreNotPublished) {
  s3_.Send("PUT /bucket/k", "before");
  const Reply reply =
      s3_.Send("PUT /bucket/k",
               Body{.text = "after it", .failure = MakeError("IncompleteBody"), .fail_at = 3});
  EXPECT_EQ(reply.Outcome(), "400 IncompleteBody");
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "before");
}

TEST_F(PutObjectTest, AnExistingObjectIsReplaced) {
  s3_.Send("PUT /bucket/k\nx-amz-meta-a: 1", "one");
  s3_.Send("PUT /bucket/k", "two");
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "two");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-meta-a"), "<absent>");
}

TEST_F(PutObjectTest, VersionIdIsReturnedOnlyWhileVersioningIsEnabled) {
  s3_.SetVersioning("bucket", "Enabled");
  EXPECT_EQ(s3_.Send("PUT /bucket/k", "x").Header("x-amz-version-id").size(), 32u);
  s3_.SetVersioning("bucket", "Suspended");
  EXPECT_EQ(s3_.Send("PUT /bucket/k", "y").Header("x-amz-version-id"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/k").Header("x-amz-version-id"), "null");
}

TEST_F(PutObjectTest, KeysWithAndWithoutTrailingSlashAreDistinct) {
  s3_.Send("PUT /bucket/dir/", "");
  s3_.Send("PUT /bucket/dir", "file");
  EXPECT_EQ(s3_.Send("GET /bucket/dir/").body, "");
  EXPECT_EQ(s3_.Send("GET /bucket/dir").body, "file");
}

// Keys are the percent-decoded path, including NUL and dot segments. Keys that climb above the root
// are refused.
TEST_F(PutObjectTest, UnusualKeysAreKeptAndInvalidKeysRefused) {
  for (const char* path :
       {"a%00b", "a/../b", "%01", "//x", "a%0Ab", "./.", "%C3%A9", "a+b", "%F0%9F%98%80"}) {
    EXPECT_EQ(s3_.Send(std::string("PUT /bucket/") + path, path).Outcome(), "200") << path;
    EXPECT_EQ(s3_.Send(std::string("GET /bucket/") + path).body, path);
  }
  EXPECT_EQ(s3_.Send("GET /bucket/a").status, 404);  // The key does not end at the NUL.
  EXPECT_EQ(s3_.Send("PUT /bucket/" + std::string(1024, 'k'), "x").Outcome(), "200");
  const Reply too_long = s3_.Send("PUT /bucket/" + std::string(1025, 'k'), "x");
  EXPECT_EQ(too_long.Outcome(), "400 KeyTooLongError");
  EXPECT_EQ(too_long.Element("Message"), "Your key is too long");
  EXPECT_EQ(too_long.Element("Size"), "1025");
  EXPECT_EQ(too_long.Element("MaxSizeAllowed"), "1024");
  EXPECT_EQ(s3_.Send("PUT /bucket/../x", "x").Outcome(), "400 400");
  EXPECT_EQ(s3_.Send("PUT /bucket/a/../../b", "x").Element("Message"), "Bad Request");
  const Reply broken = s3_.Send("PUT /bucket/%FF", "x");
  EXPECT_EQ(broken.Outcome(), "400 InvalidURI");
  EXPECT_EQ(broken.Element("URI"), "/bucket/%FF");
}

TEST_F(PutObjectTest, MissingBucketIsReportedBeforeTheBodyIsRead) {
  const Reply reply = s3_.Send("PUT /absent/k", "hello");
  EXPECT_EQ(reply.Outcome(), "404 NoSuchBucket");
  EXPECT_EQ(reply.body_bytes_read, 0u);
  EXPECT_TRUE(reply.close);
}

}  // namespace
}  // namespace penstock::emulator::s3
