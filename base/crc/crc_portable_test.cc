#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "base/crc/crc_polynomial.h"
#include "base/crc/testing_crc.h"

namespace penstock::internal {
namespace {

// The definition of the CRC, bit by bit.
template <class Kind>
typename Kind::Word BitByBit(ByteView bytes, typename Kind::Word previous) {
  auto state = static_cast<typename Kind::Word>(~previous);
  for (const std::byte b : bytes) {
    state ^= std::to_integer<std::uint8_t>(b);
    for (int bit = 0; bit < 8; ++bit)
      state = (state & 1) != 0 ? (state >> 1) ^ Kind::kPolynomial : state >> 1;
  }
  return ~state;
}

TEST(CrcPortableTest, GivesTheCheckValues) {
  EXPECT_EQ(Crc32Portable(AsBytes("123456789"), 0), 0xCBF43926U);
  EXPECT_EQ(Crc32cPortable(AsBytes("123456789"), 0), 0xE3069283U);
  EXPECT_EQ(Crc64NvmePortable(AsBytes("123456789"), 0), 0xAE8B14860A799888U);
}

TEST(CrcPortableTest, AgreesWithTheDefinition) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const std::vector<std::byte> buffer = RandomBuffer(300, seed);
  for (std::size_t length = 0; length < 280; ++length) {
    const ByteView bytes = ByteView(buffer).subspan(length % 9, length);
    ASSERT_EQ(Crc32Portable(bytes, 7), BitByBit<Crc32Kind>(bytes, 7)) << length;
    ASSERT_EQ(Crc32cPortable(bytes, 7), BitByBit<Crc32cKind>(bytes, 7)) << length;
    ASSERT_EQ(Crc64NvmePortable(bytes, 7), BitByBit<Crc64NvmeKind>(bytes, 7)) << length;
  }
}

}  // namespace
}  // namespace penstock::internal
