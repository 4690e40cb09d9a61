#include "client/checkpoint/zip_writer.h"

#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "client/checkpoint/archive_index.h"
#include "penstock/tensor_archive.h"
#include "penstock/zip_directory.h"

namespace penstock::checkpoint {
namespace {

std::string Archive(const std::string& payload) {
  ZipWriter zip;
  std::string out = BeginArchive(zip, "the pickle");
  out += zip.Record("data/0", payload);
  return out += EndArchive(zip);
}

TEST(ZipWriterTest, TheReaderFindsAlignedRecords) {
  for (const std::size_t size : {0, 1, 63, 64, 100'000}) {
    const std::string archive = Archive(std::string(size, 'p'));
    const auto read = ReadTensorArchive({{}, 0, AsBytes(archive)});
    ASSERT_TRUE(read.has_value()) << size;
    EXPECT_EQ(read->pickle, "the pickle");
    EXPECT_EQ(read->payload_begin % 64, 0U);
    EXPECT_EQ(read->payload_bytes, size);
    EXPECT_EQ(read->payload_crc32, Crc32(AsBytes(std::string(size, 'p'))));
    EXPECT_TRUE(VerifyArchive(archive).ok());
  }
}

TEST(ZipWriterTest, LargeRecordsAndOffsetsHaveZip64Fields) {
  constexpr std::uint64_t kLarge = std::uint64_t{5} << 30;
  ZipWriter zip;
  std::string head = BeginArchive(zip, "p");
  head += zip.Begin("data/0", kLarge);
  std::string tail = zip.End(7);
  tail += zip.Record("data/1", "behind");
  tail += EndArchive(zip);
  EXPECT_EQ(head.size() % 64, 0U);
  const std::uint64_t file_bytes = head.size() + kLarge + tail.size();
  EXPECT_EQ(zip.bytes_written(), file_bytes);
  const auto directory = FindZipDirectory(tail, file_bytes);
  ASSERT_TRUE(directory.has_value());
  const std::string_view text = std::string_view(tail).substr(
      directory->begin - head.size() - kLarge, directory->end - directory->begin);
  const auto index = ReadArchiveIndex(text, directory->entries, file_bytes);
  ASSERT_TRUE(index.ok()) << index.error().message;
  EXPECT_EQ(index->Find("data/0")->bytes, kLarge);
  EXPECT_EQ(index->Find("data/0")->crc32, 7U);
  EXPECT_EQ(PredictedContent(*index, *index->Find("data/0")), head.size());
  EXPECT_GT(index->Find("data/1")->header, kLarge);
}

}  // namespace
}  // namespace penstock::checkpoint
