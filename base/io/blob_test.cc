#include "base/io/blob.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(ContentTest, HasTheSizeOfItsSlices) {
  const Content content{{{nullptr, {1, 4}}, {nullptr, {0, 5}}}};
  EXPECT_EQ(content.size(), 8u);
  EXPECT_EQ(Content().size(), 0u);
}

TEST(ContentTest, SubKeepsOnlySlicesWithinTheRange) {
  const Content content{{{nullptr, {1, 4}}, {nullptr, {0, 5}}}};
  const Content sub = content.Sub({2, 5});
  ASSERT_EQ(sub.slices.size(), 2u);
  EXPECT_EQ(sub.slices[0].range, (ByteRange{3, 4}));
  EXPECT_EQ(sub.slices[1].range, (ByteRange{0, 2}));
  EXPECT_TRUE(content.Sub({3, 3}).slices.empty());
  EXPECT_EQ(content.Sub({3, 8}).slices.size(), 1u);
}

}  // namespace
}  // namespace penstock
