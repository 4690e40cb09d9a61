#include <gtest/gtest.h>

#include <string>

#include "base/crc/crc.h"
#include "base/crc/testing_crc.h"
#include "base/encoding.h"

namespace penstock {
namespace {

TEST(CrcCombineTest, CombinedPiecesGiveTheCrcOfTheWhole) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> buffer = RandomBuffer(20'000, seed);
  for (int i = 0; i < 500; ++i) {
    const ByteView whole = ByteView(buffer).first(random() % (buffer.size() + 1));
    const std::size_t cut = random() % (whole.size() + 1);
    const ByteView first = whole.first(cut);
    const ByteView second = whole.subspan(cut);
    ASSERT_EQ(CombineCrc32(Crc32(first), Crc32(second), second.size()), Crc32(whole))
        << cut << " of " << whole.size();
    ASSERT_EQ(CombineCrc32c(Crc32c(first), Crc32c(second), second.size()), Crc32c(whole))
        << cut << " of " << whole.size();
    ASSERT_EQ(CombineCrc64Nvme(Crc64Nvme(first), Crc64Nvme(second), second.size()),
              Crc64Nvme(whole))
        << cut << " of " << whole.size();
  }
}

TEST(CrcCombineTest, AppendingNothingKeepsTheCrc) {
  EXPECT_EQ(CombineCrc32(0x12345678, 0, 0), 0x12345678U);
  EXPECT_EQ(CombineCrc32c(0x12345678, 0, 0), 0x12345678U);
  EXPECT_EQ(CombineCrc64Nvme(0x123456789ABCDEF0, 0, 0), 0x123456789ABCDEF0U);
}

// Combining is associative, so it can be checked at lengths that no buffer has.
TEST(CrcCombineTest, CombinesHugeLengths) {
  constexpr std::uint64_t kHuge = (std::uint64_t{5} << 40) + 12345;
  EXPECT_EQ(CombineCrc32(CombineCrc32(1, 2, kHuge), 3, kHuge),
            CombineCrc32(1, CombineCrc32(2, 3, kHuge), 2 * kHuge));
  EXPECT_EQ(CombineCrc32c(CombineCrc32c(1, 2, kHuge), 3, kHuge),
            CombineCrc32c(1, CombineCrc32c(2, 3, kHuge), 2 * kHuge));
  EXPECT_EQ(CombineCrc64Nvme(CombineCrc64Nvme(1, 2, kHuge), 3, kHuge),
            CombineCrc64Nvme(1, CombineCrc64Nvme(2, 3, kHuge), 2 * kHuge));
}

std::uint64_t FromBase64(std::string_view text) {
  std::uint64_t number = 0;
  const std::string bytes = Base64Decode(text).value_or("");
  for (const char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

// Recorded against Amazon S3: a multipart upload of 5 MiB of 'a', then "hello".
TEST(CrcCombineTest, MatchesRecordedMultipartChecksums) {
  const std::string part(5 * 1024 * 1024, 'a');
  EXPECT_EQ(Crc32(AsBytes(part)), FromBase64("r/zBbw=="));
  EXPECT_EQ(Crc32c(AsBytes(part)), FromBase64("WpuOeg=="));
  EXPECT_EQ(Crc64Nvme(AsBytes(part)), FromBase64("PbvLEkWUSgg="));
  EXPECT_EQ(CombineCrc32(Crc32(AsBytes(part)), Crc32(AsBytes("hello")), 5), FromBase64("dsLl6w=="));
  EXPECT_EQ(CombineCrc32c(Crc32c(AsBytes(part)), Crc32c(AsBytes("hello")), 5),
            FromBase64("vzdZqA=="));
  EXPECT_EQ(CombineCrc64Nvme(Crc64Nvme(AsBytes(part)), Crc64Nvme(AsBytes("hello")), 5),
            FromBase64("xrqTozlh+bk="));
}

}  // namespace
}  // namespace penstock
