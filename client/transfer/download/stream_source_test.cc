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

TEST(InitialChecksum, VerifiesOnlyIfAllBytesOfTheObjectAreCovered) {
  const Bytes content = MakeContent(10);
  ObjectStream::Source source = Known(10);
  source.known_checksums = {{"crc64nvme", Crc64Text(content)}};
  source.ranges = {{4, 10}};
  EXPECT_EQ(InitialChecksum(source).crc(), Crc::kNone);
  source.already_read = {{0, ByteView(content).first(4)}};
  StreamChecksum checksum = InitialChecksum(source);
  EXPECT_EQ(checksum.crc(), Crc::kCrc64Nvme);
  EXPECT_TRUE(
      checksum.Add({4, 10}, UpdateCrc(Crc::kCrc64Nvme, ByteView(content).subspan(4), 0), true)
          .ok());
  EXPECT_FALSE(InitialChecksum(source).Add({4, 10}, 1, true).ok());
}

TEST(InitialChecksum, ContinuesAfterAPrefix) {
  const Bytes content = MakeContent(10);
  const auto crc = [&](std::uint64_t begin, std::uint64_t size) {
    return UpdateCrc(Crc::kCrc64Nvme, ByteView(content).subspan(begin, size), 0);
  };
  ObjectStream::Source source = Known(10);
  source.known_checksums = {{"crc64nvme", Crc64Text(content)}};
  EXPECT_EQ(InitialChecksum(source).crc(), Crc::kNone);  // the first response has it
  source.begin = 4;
  EXPECT_EQ(InitialChecksum(source).crc(), Crc::kNone);
  source.prefix_crc = crc(0, 4);
  StreamChecksum checksum = InitialChecksum(source);
  EXPECT_EQ(checksum.CrcBefore(4, {}), crc(0, 4));
  EXPECT_TRUE(checksum.Add({4, 8}, crc(4, 4), false).ok());
  EXPECT_EQ(checksum.CrcBefore(6, ByteView(content).subspan(4, 2)), crc(0, 6));
  EXPECT_EQ(checksum.CrcBefore(8, {}), crc(0, 8));
  EXPECT_FALSE(checksum.CrcBefore(7, {}).has_value());
  EXPECT_TRUE(checksum.Add({8, 10}, crc(8, 2), true).ok());
  EXPECT_FALSE(InitialChecksum(source).Add({4, 10}, 1, true).ok());
}

}  // namespace
}  // namespace penstock::transfer
