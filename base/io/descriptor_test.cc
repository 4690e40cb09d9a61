#include "base/io/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace penstock {
namespace {

int Open() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(DescriptorTest, ClosesWhenDestroyed) {
  const int fd = Open();
  ASSERT_GE(fd, 0);
  {
    const Descriptor owner(fd);
    EXPECT_TRUE(owner);
    EXPECT_EQ(owner.get(), fd);
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(DescriptorTest, AMoveTransfersTheDescriptorAndClosesTheOlderOne) {
  const int older = Open();
  const int newer = Open();
  Descriptor one(older);
  Descriptor other(newer);
  one = std::move(other);
  EXPECT_FALSE(IsOpen(older));
  EXPECT_TRUE(IsOpen(newer));
  EXPECT_FALSE(other);  // NOLINT: the state after a move is defined
  const Descriptor third(std::move(one));
  EXPECT_EQ(third.get(), newer);
  EXPECT_TRUE(IsOpen(newer));
}

TEST(DescriptorTest, CloseReturnsTheErrorOnce) {
  const int fd = Open();
  Descriptor owner(fd);
  ::close(fd);
  EXPECT_EQ(owner.Close(), EBADF);
  EXPECT_FALSE(owner);
  EXPECT_EQ(owner.Close(), 0);
  EXPECT_EQ(Descriptor().Close(), 0);
}

}  // namespace
}  // namespace penstock
