#include "client/checkpoint/archive_index.h"

#include <gtest/gtest.h>

#include "client/checkpoint/zip_writer.h"
#include "penstock/zip_directory.h"

namespace penstock::checkpoint {
namespace {

std::string Archive() {
  ZipWriter zip;
  std::string out = BeginArchive(zip, "pickle");
  out += zip.Record("data/0", std::string(100, 'p'));
  return out += EndArchive(zip);
}

Result<ArchiveIndex> Index(const std::string& archive) {
  const auto found = FindZipDirectory(archive, archive.size());
  return ReadArchiveIndex(std::string_view(archive).substr(found->begin, found->end - found->begin),
                          found->entries, archive.size());
}

TEST(ArchiveIndexTest, ListsRecordsWithoutTheirFolder) {
  const std::string archive = Archive();
  const auto index = Index(archive);
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(index->folder, "archive/");
  EXPECT_EQ(index->records.size(), 6U);
  EXPECT_EQ(index->Find("data/0")->bytes, 100U);
  EXPECT_EQ(index->Find("nothing"), nullptr);
  EXPECT_FALSE(index->is_script());
  const auto& record = *index->Find("data/0");
  EXPECT_EQ(archive.substr(PredictedContent(*index, record), 100), std::string(100, 'p'));
}

TEST(ArchiveIndexTest, OtherZipFilesAreUnsupportedAndNotCorrupt) {
  std::string archive = Archive();
  const std::size_t entry = archive.find("PK\1\2");
  archive[entry + 10] = 8;  // deflated
  EXPECT_EQ(Index(archive)->foreign, "archive/data.pkl");
  EXPECT_EQ(VerifyArchive(archive).error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(ReadArchiveIndex("", 0, 100).error().kind, ErrorKind::kDataLoss);
}

// Returns the directory entry of a record of `bytes` bytes whose local header is at `header`.
std::string Entry(const std::string& name, std::uint32_t header, std::uint32_t bytes) {
  std::string entry("PK\1\2", 4);
  entry.resize(46, '\0');
  for (int i = 0; i < 4; ++i) {
    entry[20 + i] = entry[24 + i] = static_cast<char>(bytes >> 8 * i);
    entry[42 + i] = static_cast<char>(header >> 8 * i);
  }
  entry[28] = static_cast<char>(name.size());
  return entry + name;
}

TEST(ArchiveIndexTest, OverlappingRecordsAreDataLoss) {
  const std::uint64_t size = 30 + 8 + 100;  // of a record with its header
  EXPECT_TRUE(
      ReadArchiveIndex(Entry("a/data/1", size, 100) + Entry("a/data/0", 0, 100), 2, 2 * size).ok());
  for (const std::uint32_t header : {std::uint32_t{0}, std::uint32_t{size - 1}}) {
    const auto index =
        ReadArchiveIndex(Entry("a/data/0", 0, 100) + Entry("a/data/1", header, 100), 2, 2 * size);
    ASSERT_FALSE(index.ok());
    EXPECT_EQ(index.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(index.error().message.find("overlap"), std::string::npos) << index.error().message;
  }
  EXPECT_FALSE(ReadArchiveIndex(Entry("a/data/0", 0, 100), 1, size - 1).ok());
}

// torch reads the last of two entries with one name, other readers the first.
TEST(ArchiveIndexTest, ANameThatOccursTwiceIsDataLoss) {
  const auto index =
      ReadArchiveIndex(Entry("a/data/0", 0, 100) + Entry("a/data/0", 200, 100), 2, 1000);
  ASSERT_FALSE(index.ok());
  EXPECT_NE(index.error().message.find("'data/0' occurs twice"), std::string::npos)
      << index.error().message;
}

TEST(ArchiveIndexTest, EveryChangedByteOfARecordIsFound) {
  const std::string archive = Archive();
  EXPECT_TRUE(VerifyArchive(archive).ok());
  const std::size_t payload = archive.find(std::string(100, 'p'));
  for (std::size_t i = 0; i < 100; ++i) {
    std::string damaged = archive;
    damaged[payload + i] ^= 1;
    const auto result = VerifyArchive(damaged);
    ASSERT_FALSE(result.ok()) << i;
    EXPECT_NE(result.error().message.find("'data/0' has the CRC-32"), std::string::npos);
  }
}

TEST(ArchiveIndexTest, MissingCrcInTheDirectoryIsDataLoss) {
  std::string archive = Archive();
  const std::size_t name = archive.rfind("archive/data/0");
  archive.replace(name - 46 + 16, 4, 4, '\0');
  const auto verified = VerifyArchive(archive);
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(verified.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(verified.error().message.find("record 'data/0' has no CRC-32 in the directory"),
            std::string::npos)
      << verified.error().message;
}

TEST(ArchiveIndexTest, NeverReadsPastTheEndOfADamagedArchive) {
  const std::string archive = Archive();
  for (std::size_t size = 0; size < archive.size(); ++size)
    EXPECT_FALSE(VerifyArchive(std::string(archive, 0, size)).ok()) << size;
  for (std::size_t at = 0; at < archive.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = archive;
      damaged[at] = value;
      (void)VerifyArchive(damaged).ok();
    }
  }
}

}  // namespace
}  // namespace penstock::checkpoint
