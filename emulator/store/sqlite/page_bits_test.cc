#include "emulator/store/sqlite/page_bits.h"

#include <gtest/gtest.h>

#include <limits>

namespace penstock::emulator::store {
namespace {

TEST(PageBits, EveryPageHasItsOwnBit) {
  PageBits bits;
  for (const std::uint32_t page :
       {0u, 1u, 63u, 64u, 1023u, 1024u, 2047u, 2048u, 99'999u, 100'000u}) {
    EXPECT_FALSE(bits.Test(page)) << page;
    bits.Set(page);
    EXPECT_TRUE(bits.Test(page)) << page;
    EXPECT_FALSE(bits.Test(page + 2)) << page;
  }
  bits.Clear(1024);
  EXPECT_FALSE(bits.Test(1024));
  EXPECT_TRUE(bits.Test(1023));
  EXPECT_TRUE(bits.Test(2047));
}

TEST(PageBits, TheLargestPageNumberHasABit) {
  PageBits bits;
  bits.Clear(std::numeric_limits<std::uint32_t>::max());
  EXPECT_FALSE(bits.Test(std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace
}  // namespace penstock::emulator::store
