#include "client/checkpoint/load/payload_crc.h"

#include <gtest/gtest.h>

#include <random>

#include "base/crc/crc.h"
#include "client/checkpoint/load/checkpoint_test_support.h"

namespace penstock::checkpoint {
namespace {

TEST(PayloadCrcTest, PiecesInAnyOrderAndWithOverlapsGiveTheCrcOfTheWhole) {
  std::mt19937 random(1);
  const std::string payload = RandomBytes(300, 2);
  const ByteView bytes = AsBytes(payload);
  for (int round = 0; round < 200; ++round) {
    PayloadCrc crc;
    std::vector<bool> known(payload.size());
    while (std::find(known.begin(), known.end(), false) != known.end()) {
      EXPECT_EQ(crc.Of(payload.size()), std::nullopt);
      const std::size_t begin = random() % payload.size();
      const std::size_t size = random() % (payload.size() - begin + 1);
      crc.Add(begin, bytes.subspan(begin, size));
      std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
    }
    EXPECT_EQ(crc.Of(payload.size()), Crc32(bytes));
    EXPECT_EQ(crc.Of(payload.size() + 1), std::nullopt);
  }
}

TEST(PayloadCrcTest, AnEmptyPayloadIsKnown) { EXPECT_EQ(PayloadCrc().Of(0), 0U); }

}  // namespace
}  // namespace penstock::checkpoint
