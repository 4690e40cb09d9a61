#include "penstock/zip_directory.h"

#include <gtest/gtest.h>

#include <string>

#include "client/checkpoint/little_endian_for_test.h"

namespace penstock {
namespace {

using namespace std::string_literals;

std::string Entry(const std::string& name, std::uint64_t bytes, std::uint64_t header,
                  const std::string& extra = "") {
  return "PK\1\2"s + Little(0, 4) + Little(8, 2) + Little(0, 6) + Little(0x1234, 4) +
         Little(bytes, 4) + Little(bytes, 4) + Little(name.size(), 2) + Little(extra.size(), 2) +
         Little(0, 6) + Little(0x10, 4) + Little(header, 4) + name + extra;
}

std::string End(std::uint64_t entries, std::uint64_t size, std::uint64_t begin) {
  return "PK\5\6"s + Little(0, 4) + Little(entries, 2) + Little(entries, 2) + Little(size, 4) +
         Little(begin, 4) + Little(0, 2);
}

TEST(ZipDirectoryTest, IsFoundByItsEndRecord) {
  const std::string entry = Entry("a/data.pkl", 5, 0);
  const std::string file = "content" + entry + End(1, entry.size(), 7);
  const std::size_t end_bytes = End(0, 0, 0).size();
  for (const std::size_t tail : {file.size(), end_bytes + 20}) {
    const auto found = FindZipDirectory(file.substr(file.size() - tail), file.size());
    ASSERT_TRUE(found.has_value()) << tail;
    EXPECT_EQ(found->begin, 7U);
    EXPECT_EQ(found->end, 7 + entry.size());
    EXPECT_EQ(found->entries, 1U);
    EXPECT_EQ(found->trailing_bytes, 0U);
  }
  EXPECT_EQ(FindZipDirectory(file + "comment", file.size() + 7)->trailing_bytes, 7U);
  // A locator of a zip64 record may precede such a tail.
  EXPECT_FALSE(FindZipDirectory(file.substr(file.size() - end_bytes - 19), file.size()));
}

// The last bytes of an end record may be those of its signature.
TEST(ZipDirectoryTest, AnOffsetThatEqualsTheSignatureIsNoEndRecord) {
  const std::uint64_t begin = 0x06054B50;  // "PK\5\6"
  const std::uint64_t file_bytes = begin + 100 + 22;
  const auto found = FindZipDirectory(std::string(20, 'x') + End(2, 100, begin), file_bytes);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->begin, begin);
}

TEST(ZipDirectoryTest, MustBeWithinTheFile) {
  EXPECT_FALSE(FindZipDirectory(End(0, 100, 0), 60).has_value());
  EXPECT_FALSE(FindZipDirectory(End(0, 0, 100), 60).has_value());
  EXPECT_FALSE(FindZipDirectory(End(0, 0, 0), 21).has_value()) << "a tail larger than the file";
  EXPECT_FALSE(FindZipDirectory("PK\5\6", 100).has_value());
}

TEST(ZipDirectoryTest, LargeDirectoriesHaveTheirPositionInTheZip64Record) {
  const std::uint64_t begin = std::uint64_t{5} << 32;
  const std::string end64 = "PK\6\6"s + Little(44, 8) + Little(0, 12) + Little(70'000, 8) +
                            Little(70'000, 8) + Little(99, 8) + Little(begin, 8);
  const std::string locator = "PK\6\7"s + Little(0, 4) + Little(begin + 99, 8) + Little(1, 4);
  const std::string tail = end64 + locator + End(0xFFFF, 99, 0xFFFFFFFF);
  const auto found = FindZipDirectory(tail, begin + 99 + tail.size());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->begin, begin);
  EXPECT_EQ(found->end, begin + 99);
  EXPECT_EQ(found->entries, 70'000U);
  EXPECT_FALSE(FindZipDirectory(tail, begin + 98 + tail.size()).has_value())
      << "the locator does not refer to the record";
  EXPECT_FALSE(FindZipDirectory(tail.substr(1), begin + 99 + tail.size()).has_value());
}

TEST(ZipDirectoryTest, EntriesHaveWhatTheDirectoryStates) {
  const std::uint64_t large = std::uint64_t{6} << 32;
  const std::string extra = "XX"s + Little(2, 2) + "ab" + Little(1, 2) + Little(24, 2) +
                            Little(large, 8) + Little(large, 8) + Little(large + 1, 8);
  const std::string directory = Entry("a/x", 5, 7) + Entry("a/y", 0xFFFFFFFF, 0xFFFFFFFF, extra);
  const auto entries = ReadZipDirectory(directory);
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].name, "a/x");
  EXPECT_EQ((*entries)[0].header, 7U);
  EXPECT_EQ((*entries)[0].crc32, 0x1234U);
  EXPECT_EQ((*entries)[0].stored_bytes, 5U);
  EXPECT_EQ((*entries)[0].method, 0);
  EXPECT_EQ((*entries)[0].attributes, 0x10U);
  EXPECT_EQ((*entries)[1].stored_bytes, large);
  EXPECT_EQ((*entries)[1].content_bytes, large);
  EXPECT_EQ((*entries)[1].header, large + 1);
  EXPECT_TRUE(ReadZipDirectory("")->empty());
}

TEST(ZipDirectoryTest, DamagedDirectoriesAreRejected) {
  const std::string directory = Entry("a/x", 5, 7) + Entry("a/y", 0xFFFFFFFF, 9);
  EXPECT_FALSE(ReadZipDirectory(directory).has_value()) << "no zip64 field";
  const std::string good = Entry("a/x", 5, 7);
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_FALSE(ReadZipDirectory(std::string(good, 0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ReadZipDirectory("x" + good).has_value());
}

TEST(ZipDirectoryTest, ContentBeginsAfterNameAndExtraField) {
  const std::string header = "PK\3\4"s + std::string(22, '\0') + Little(10, 2) + Little(50, 2);
  EXPECT_EQ(ZipContentOffset(header), 90U);
  EXPECT_FALSE(ZipContentOffset(header.substr(0, 29)).has_value());
  EXPECT_FALSE(ZipContentOffset("PK\1\2" + header.substr(4)).has_value());
}

TEST(ZipDirectoryTest, RecordsAreSavedWithoutACrcIfNoPartHasOne) {
  const auto header = [](int flags, std::uint32_t crc) {
    return "PK\3\4"s + Little(0, 2) + Little(flags, 2) + Little(0, 6) + Little(crc, 4) +
           Little(0, 12);
  };
  const auto descriptor = [](std::uint32_t crc, std::uint64_t bytes) {
    return "PK\7\10"s + Little(crc, 4) + Little(bytes, 4) + Little(bytes, 4);
  };
  EXPECT_TRUE(IsSavedWithoutCrc(header(8, 0), descriptor(0, 7), 7));
  EXPECT_TRUE(IsSavedWithoutCrc(header(8, 0), descriptor(0, 7), (std::uint64_t{1} << 32) + 7));
  EXPECT_TRUE(IsSavedWithoutCrc(header(0, 0), "", 7));
  EXPECT_FALSE(IsSavedWithoutCrc(header(0, 5), "", 7));
  EXPECT_FALSE(IsSavedWithoutCrc(header(8, 0), descriptor(5, 7), 7));
  EXPECT_FALSE(IsSavedWithoutCrc(header(8, 0), descriptor(0, 8), 7));
  EXPECT_FALSE(IsSavedWithoutCrc(header(8, 0), std::string(16, '\0'), 7));
  EXPECT_FALSE(IsSavedWithoutCrc(header(8, 0), descriptor(0, 7).substr(0, 11), 7));
  EXPECT_FALSE(IsSavedWithoutCrc("PK\3\4", descriptor(0, 7), 7));
}

}  // namespace
}  // namespace penstock
