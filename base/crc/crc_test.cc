#include "base/crc/crc.h"

#include <gtest/gtest.h>

#include <string>

#include "base/crc/testing_crc.h"
#include "base/encoding.h"

namespace penstock {
namespace {

template <class Word>
std::string BigEndianBase64(Word crc) {
  std::string bytes;
  for (std::size_t i = sizeof(Word); i-- > 0;) bytes += static_cast<char>(crc >> (8 * i));
  return Base64Encode(AsBytes(bytes));
}

struct RecordedValue {
  std::string input;
  const char* crc32;
  const char* crc32c;
  const char* crc64nvme;
};

// Recorded against Amazon S3.
TEST(CrcTest, MatchesRecordedValues) {
  const RecordedValue values[] = {
      {"123456789", "y/Q5Jg==", "4waSgw==", "rosUhgp5mIg="},
      {"", "AAAAAA==", "AAAAAA==", "AAAAAAAAAAA="},
      {"hello", "NhCmhg==", "mnG7TA==", "M3eFcAZSQlc="},
      {std::string(66560, 'a'), "sK4Y7A==", "sOO8/Q==", "pRf+emrnL+A="},
      {std::string(32, '\0'), "GQpVrQ==", "ipE2qg==", "zzRzQ01Ozzs="},
      {std::string(32, '\xff'), "/2yrCw==", "YqirQw==", "oKBpdMNNY8Q="},
      {"test data..", "cZWHwQ==", "Pf4upw==", "qUVrWYOrIAM="},
  };
  for (const RecordedValue& value : values) {
    SCOPED_TRACE(value.input.substr(0, 16));
    EXPECT_EQ(BigEndianBase64(Crc32(AsBytes(value.input))), value.crc32);
    EXPECT_EQ(BigEndianBase64(Crc32c(AsBytes(value.input))), value.crc32c);
    EXPECT_EQ(BigEndianBase64(Crc64Nvme(AsBytes(value.input))), value.crc64nvme);
  }
  EXPECT_EQ(BigEndianBase64(Crc64Nvme(AsBytes("aaa"))), "Rnr2/5P7Gsk=");
}

TEST(CrcTest, ContinuesFromThePreviousCrc) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> buffer = RandomBuffer(5000, seed);
  const ByteView whole(buffer);
  for (int i = 0; i < 200; ++i) {
    const std::size_t cut = random() % (whole.size() + 1);
    ASSERT_EQ(Crc32(whole.subspan(cut), Crc32(whole.first(cut))), Crc32(whole)) << cut;
    ASSERT_EQ(Crc32c(whole.subspan(cut), Crc32c(whole.first(cut))), Crc32c(whole)) << cut;
    ASSERT_EQ(Crc64Nvme(whole.subspan(cut), Crc64Nvme(whole.first(cut))), Crc64Nvme(whole)) << cut;
  }
}

TEST(CrcTest, ChosenPathAgreesWithThePortablePath) {
  ExpectSameAsPortable<std::uint32_t>(
      [](std::uint32_t state, ByteView bytes) { return ~Crc32(bytes, ~state); },
      internal::Crc32Portable);
  ExpectSameAsPortable<std::uint32_t>(
      [](std::uint32_t state, ByteView bytes) { return ~Crc32c(bytes, ~state); },
      internal::Crc32cPortable);
  ExpectSameAsPortable<std::uint64_t>(
      [](std::uint64_t state, ByteView bytes) { return ~Crc64Nvme(bytes, ~state); },
      internal::Crc64NvmePortable);
}

}  // namespace
}  // namespace penstock
