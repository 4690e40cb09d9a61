#include "client/transfer/download/stream_source.h"

#include <gtest/gtest.h>

#include "client/transfer/checksummed_store_test_support.h"

namespace penstock::transfer {
namespace {

ObjectStream::Source Known(std::uint64_t size) {
  ObjectStream::Source source;
  source.known_size = size;
  source.known_etag = ETag("e");
  return source;
}

TEST(CheckStream, ReportsTheInvalidRange) {
  ObjectStream::Source source = Known(10);
  source.ranges = {{0, 3}, {8, 11}};
  const Result<void> checked = CheckStream(source, {});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(checked.error().message.find("[8, 11)"), std::string::npos) << checked.error().message;
  source.ranges.pop_back();
  EXPECT_TRUE(CheckStream(source, {}).ok());
}

TEST(CheckStream, RejectsAnEndBeforeTheStartAndEmptyParts) {
  ObjectStream::Source source;
  source.begin = 5;
  source.end = 4;
  EXPECT_FALSE(CheckStream(source, {}).ok());
  source.end = 5;
  EXPECT_TRUE(CheckStream(source, {}).ok());
  StreamOptions options;
  options.part_size_bytes = 0;
  EXPECT_FALSE(CheckStream(source, options).ok());
}

TEST(ChecksumOfRanges, VerifiesOnlyIfAllBytesOfTheObjectAreCovered) {
  const Bytes content = MakeContent(10);
  ObjectStream::Source source = Known(10);
  source.known_checksums = {{"crc64nvme", Crc64Text(content)}};
  source.ranges = {{4, 10}};
  EXPECT_EQ(ChecksumOfRanges(source).crc(), Crc::kNone);
  source.already_read = {{0, ByteView(content).first(4)}};
  StreamChecksum checksum = ChecksumOfRanges(source);
  EXPECT_EQ(checksum.crc(), Crc::kCrc64Nvme);
  EXPECT_TRUE(
      checksum.Give({4, 10}, UpdateCrc(Crc::kCrc64Nvme, ByteView(content).subspan(4), 0), true)
          .ok());
  EXPECT_FALSE(ChecksumOfRanges(source).Give({4, 10}, 1, true).ok());
}

}  // namespace
}  // namespace penstock::transfer
