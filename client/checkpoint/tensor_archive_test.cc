#include "penstock/tensor_archive.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/checkpoint/little_endian_for_test.h"

namespace penstock {
namespace {

using namespace std::string_literals;

// A zip archive as torch.save writes it: uncompressed records, padded so that contents start at
// multiples of 64. Sizes are only in the directory, and there is a zip64 end record
// (APPNOTE.TXT 4.3).
class Zip {
 public:
  void Add(const std::string& name, const std::string& content, int method = 0) {
    const std::size_t header = bytes_.size();
    std::size_t padding = 64 - (header + 30 + name.size() + 4) % 64;
    if (padding == 64) padding = 0;
    bytes_ += "PK\3\4"s + Little(0, 2) + Little(8, 2) + Little(method, 2) + Little(0, 16) +
              Little(name.size(), 2) + Little(4 + padding, 2) + name + "FB" + Little(padding, 2) +
              std::string(padding, 'Z');
    begins_.push_back(bytes_.size());
    bytes_ += content + "PK\7\x08"s + Little(0, 4) + Little(content.size(), 4) +
              Little(content.size(), 4);
    const bool wide = wide_directory;
    const std::uint64_t narrow = wide ? 0xFFFFFFFF : content.size();
    const std::string extra = wide ? Little(1, 2) + Little(24, 2) + Little(content.size(), 8) +
                                         Little(content.size(), 8) + Little(header, 8)
                                   : "";
    directory_ += "PK\1\2"s + Little(0, 4) + Little(8, 2) + Little(method, 2) + Little(0, 8) +
                  Little(narrow, 4) + Little(narrow, 4) + Little(name.size(), 2) +
                  Little(extra.size(), 2) + Little(0, 10) + Little(wide ? 0xFFFFFFFF : header, 4) +
                  name + extra;
    ++entries_;
  }

  std::string Bytes() const {
    const std::size_t begin = bytes_.size();
    const std::size_t end = begin + directory_.size();
    return bytes_ + directory_ + "PK\6\6"s + Little(44, 8) + Little(0, 12) + Little(entries_, 8) +
           Little(entries_, 8) + Little(directory_.size(), 8) + Little(begin, 8) + "PK\6\7"s +
           Little(0, 4) + Little(end, 8) + Little(1, 4) + "PK\5\6"s + Little(0, 4) +
           Little(entries_, 2) + Little(entries_, 2) + Little(directory_.size(), 4) +
           Little(begin, 4) + Little(0, 2);
  }
  std::size_t begin_of(std::size_t record) const { return begins_[record]; }

  bool wide_directory = false;  // sizes and offsets in zip64 fields

 private:
  std::string bytes_;
  std::string directory_;
  std::vector<std::size_t> begins_;
  std::uint64_t entries_ = 0;
};

Zip Saved(const std::string& payload, bool wide = false, const std::string& byte_order = "little") {
  Zip zip;
  zip.wide_directory = wide;
  zip.Add("archive/data.pkl", "the pickle");
  zip.Add("archive/byteorder", byte_order);
  zip.Add("archive/data/0", payload);
  zip.Add("archive/version", "3\n");
  zip.Add("archive/.data/serialization_id", std::string(40, '7'));
  return zip;
}

std::optional<TensorArchive> Read(const std::string& bytes) {
  return ReadTensorArchive({{}, 0, AsBytes(bytes)});
}

// Reads the archive without its bytes [begin, end).
std::optional<TensorArchive> ReadAround(const std::string& bytes, std::size_t begin,
                                        std::size_t end) {
  const std::string_view all = bytes;
  return ReadTensorArchive({AsBytes(all.substr(0, begin)), end - begin, AsBytes(all.substr(end))});
}

TEST(TensorArchiveTest, FindsPickleAndPayloadAroundThePayload) {
  for (const bool wide : {false, true}) {
    const Zip zip = Saved(std::string(1000, 'p'), wide);
    const std::string bytes = zip.Bytes();
    const auto archive = ReadAround(bytes, zip.begin_of(2), zip.begin_of(2) + 1000);
    ASSERT_TRUE(archive.has_value()) << wide;
    EXPECT_EQ(archive->pickle, "the pickle");
    EXPECT_EQ(archive->payload_key, "0");
    EXPECT_EQ(archive->payload_begin, zip.begin_of(2));
    EXPECT_EQ(archive->payload_begin % 64, 0U);
    EXPECT_EQ(archive->payload_bytes, 1000U);
  }
}

TEST(TensorArchiveTest, FindsPickleAndPayloadInAWholeArchive) {
  const Zip zip = Saved("payload");
  const std::string bytes = zip.Bytes();
  const auto archive = ReadTensorArchive({{}, 0, AsBytes(bytes)});
  ASSERT_TRUE(archive.has_value());
  EXPECT_EQ(archive->payload_begin, zip.begin_of(2));
}

TEST(TensorArchiveTest, ReturnsThePayloadOffsetIfTheGapIsElsewhere) {
  const Zip zip = Saved(std::string(1000, 'p'));
  const auto archive = ReadAround(zip.Bytes(), zip.begin_of(2) + 64, zip.begin_of(2) + 900);
  ASSERT_TRUE(archive.has_value());
  EXPECT_EQ(archive->payload_begin, zip.begin_of(2));
}

TEST(TensorArchiveTest, RejectsAGapThatCoversOtherRecords) {
  const Zip zip = Saved(std::string(1000, 'p'));
  EXPECT_FALSE(ReadAround(zip.Bytes(), zip.begin_of(0) + 3, zip.begin_of(2)).has_value());
  EXPECT_FALSE(ReadAround(zip.Bytes(), zip.begin_of(2), zip.Bytes().size() - 100).has_value());
}

TEST(TensorArchiveTest, RejectsOtherArchives) {
  EXPECT_FALSE(Read(Saved("payload", false, "big").Bytes()).has_value());
  Zip two = Saved("payload");
  two.Add("archive/data/1", "another");
  EXPECT_FALSE(ReadTensorArchive({{}, 0, AsBytes(two.Bytes())}).has_value());
  Zip script = Saved("payload");
  script.Add("archive/constants.pkl", "code");
  EXPECT_FALSE(ReadTensorArchive({{}, 0, AsBytes(script.Bytes())}).has_value());
  Zip twice = Saved("payload");
  twice.Add("archive/data.pkl", "another");
  EXPECT_FALSE(ReadTensorArchive({{}, 0, AsBytes(twice.Bytes())}).has_value());
  Zip deflated = Saved("payload");
  deflated.Add("archive/more", "content", 8);
  EXPECT_FALSE(ReadTensorArchive({{}, 0, AsBytes(deflated.Bytes())}).has_value());
  Zip without;
  without.Add("archive/data.pkl", "the pickle");
  without.Add("archive/byteorder", "little");
  EXPECT_FALSE(ReadTensorArchive({{}, 0, AsBytes(without.Bytes())}).has_value());
}

TEST(TensorArchiveTest, RejectsAPayloadThatEndsAfterTheArchive) {
  std::string bytes = Saved("payload").Bytes();
  // In the directory.
  const std::size_t entry = bytes.find("archive/data/0", bytes.find("PK\1\2")) - 46;
  for (const std::size_t size_field : {20, 24})
    bytes.replace(entry + size_field, 4, Little(bytes.size(), 4));
  EXPECT_FALSE(Read(bytes).has_value());
}

TEST(TensorArchiveTest, NeverReadsPastTheEndOfADamagedArchive) {
  const std::string whole = Saved(std::string(70, 'p'), true).Bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A separate copy, so that AddressSanitizer detects reads past its end.
    const std::string part(whole, 0, size);
    EXPECT_FALSE(ReadTensorArchive({{}, 0, AsBytes(part)}).has_value()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\0', '\1', '\x7f', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = value;
      const auto archive = ReadTensorArchive({{}, 0, AsBytes(damaged)});
      EXPECT_LE(archive ? archive->pickle.size() : 0, whole.size()) << at;
    }
  }
}

TEST(TensorArchiveTest, ACrcThatOnlyTheDirectoryLacksIsDamage) {
  const std::string payload(100, 'p');
  const Zip zip = Saved(payload);
  std::string bytes = zip.Bytes();
  const std::size_t end = zip.begin_of(2) + payload.size();
  ASSERT_TRUE(ReadAround(bytes, zip.begin_of(2), end).has_value());
  for (const std::size_t at : {end, end + 4, end + 8}) {  // signature, CRC-32, size
    std::string damaged = bytes;
    damaged[at] ^= 1;
    EXPECT_FALSE(Read(damaged).has_value()) << at - end;
    EXPECT_FALSE(ReadAround(damaged, zip.begin_of(2), end).has_value()) << at - end;
  }
}

}  // namespace
}  // namespace penstock
