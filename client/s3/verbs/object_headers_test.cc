#include "client/s3/verbs/object_headers.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(ObjectHeadersTest, ETagsAreStoredWithoutQuotes) {
  EXPECT_EQ(ReadETag("\"abc-2\"").value, "abc-2");
  EXPECT_EQ(ReadETag("abc").value, "abc");
  EXPECT_EQ(ReadETag("\"").value, "\"");
  EXPECT_EQ(QuoteETag(ETag("abc")), "\"abc\"");
  EXPECT_EQ(QuoteETag(ETag("*")), "*");
}

TEST(ObjectHeadersTest, ReadsMetadata) {
  const ObjectMetadata metadata = ReadMetadata({200,
                                                {{"ETag", "\"e\""},
                                                 {"Last-Modified", "Fri, 24 May 2013 00:00:00 GMT"},
                                                 {"Content-Type", "text/plain"},
                                                 {"x-amz-storage-class", "GLACIER"},
                                                 {"x-amz-version-id", "v"},
                                                 {"x-amz-restore", "ongoing-request=\"true\""},
                                                 {"X-Amz-Meta-Some-Name", "v1"}}});
  EXPECT_EQ(metadata.etag.value, "e");
  EXPECT_EQ(metadata.last_modified, WallTime(std::chrono::seconds(1369353600)));
  EXPECT_EQ(metadata.content_type, "text/plain");
  EXPECT_EQ(metadata.storage_class, "GLACIER");
  EXPECT_EQ(metadata.version_id.value, "v");
  EXPECT_EQ(metadata.restore, "ongoing-request=\"true\"");
  EXPECT_EQ(metadata.user_metadata,
            (std::vector<std::pair<std::string, std::string>>{{"some-name", "v1"}}));
}

TEST(ObjectHeadersTest, KeepsOnlyChecksumsOfTheWholeObject) {
  using List = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(ReadMetadata(
                {200, {{"x-amz-checksum-crc64nvme", "a="}, {"x-amz-checksum-type", "FULL_OBJECT"}}})
                .checksums,
            (List{{"crc64nvme", "a="}}));
  EXPECT_EQ(ReadMetadata({200, {{"X-Amz-Checksum-CRC32", "a=="}}}).checksums,
            (List{{"crc32", "a=="}}));
  EXPECT_EQ(ReadMetadata({200, {{"x-amz-checksum-crc32", "a==-3"}}}).checksums, List{});
  EXPECT_EQ(
      ReadMetadata({200, {{"x-amz-checksum-crc32", "a=="}, {"x-amz-checksum-type", "COMPOSITE"}}})
          .checksums,
      List{});
}

TEST(ObjectHeadersTest, RangesAreHalfOpenInCodeAndInclusiveOnTheWire) {
  EXPECT_EQ(FormatRange({.begin = 0, .end = 1}).value(), "bytes=0-0");
  EXPECT_EQ(FormatRange({.begin = 7}).value(), "bytes=7-");
  EXPECT_EQ(FormatRange({.end = 7}).value(), "bytes=0-6");
  EXPECT_EQ(FormatRange({.suffix = 7}).value(), "bytes=-7");
  const auto range = ParseContentRange("bytes 5-9/100");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->range, (ByteRange{5, 10}));
  EXPECT_EQ(range->object_size, 100u);
}

TEST(ObjectHeadersTest, RejectsEmptyRanges) {
  EXPECT_FALSE(FormatRange({.begin = 7, .end = 7}).ok());
  EXPECT_FALSE(FormatRange({.begin = 8, .end = 7}).ok());
  EXPECT_FALSE(FormatRange({.suffix = 0}).ok());
  EXPECT_FALSE(FormatRange({.begin = 1, .suffix = 7}).ok());
}

TEST(ObjectHeadersTest, SelectionsAreClippedToTheObject) {
  EXPECT_EQ(Select({}, 10), (ByteRange{0, 10}));
  EXPECT_EQ(Select({.begin = 3, .end = 100}, 10), (ByteRange{3, 10}));
  EXPECT_EQ(Select({.begin = 12}, 10), (ByteRange{10, 10}));
  EXPECT_EQ(Select({.suffix = 4}, 10), (ByteRange{6, 10}));
  EXPECT_EQ(Select({.suffix = 40}, 10), (ByteRange{0, 10}));
}

TEST(ObjectHeadersTest, ContentLengthIsANumberOrAbsent) {
  EXPECT_EQ(ReadContentLength({200, {{"content-length", "12"}}}), 12u);
  EXPECT_EQ(ReadContentLength({200, {{"content-length", "12a"}}}), std::nullopt);
  EXPECT_EQ(ReadContentLength({200, {}}), std::nullopt);
}

}  // namespace
}  // namespace penstock::s3
