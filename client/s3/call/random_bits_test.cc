#include "client/s3/call/random_bits.h"

#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(RandomBitsTest, NumbersDiffer) {
  const RandomBits random = MakeRandomBits();
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random());
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(RandomBitsTest, AForkedChildDrawsOtherNumbers) {
  const RandomBits random = MakeRandomBits();
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t bits = random();
    ::_exit(::write(pipe_ends[1], &bits, sizeof bits) == sizeof bits ? 0 : 1);
  }
  std::uint64_t childs = 0;
  ASSERT_EQ(::read(pipe_ends[0], &childs, sizeof childs), static_cast<ssize_t>(sizeof childs));
  EXPECT_NE(random(), childs);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(RandomBitsTest, TheUnitIntervalExcludesOne) {
  EXPECT_EQ(ToUnitInterval(0), 0.0);
  EXPECT_LT(ToUnitInterval(~std::uint64_t{0}), 1.0);
  EXPECT_GT(ToUnitInterval(~std::uint64_t{0}), 0.999);
}

TEST(RandomBitsTest, UuidsAreVersion4) {
  EXPECT_EQ(MakeUuid([] { return ~std::uint64_t{0}; }), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(MakeUuid([] { return std::uint64_t{0}; }), "00000000-0000-4000-8000-000000000000");
}

}  // namespace
}  // namespace penstock::s3
