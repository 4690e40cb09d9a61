#include "base/ascii.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(AsciiTest, ConvertsOnlyAsciiLetters) {
  EXPECT_EQ(AsciiLower("X-Amz-META-\xC3\x84@[`{"), "x-amz-meta-\xC3\x84@[`{");
  EXPECT_EQ(AsciiLower("AZaz09"), "azaz09");
  EXPECT_EQ(AsciiLower(""), "");
}

}  // namespace
}  // namespace penstock
