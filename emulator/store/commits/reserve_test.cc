#include "emulator/store/commits/reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

class ReserveTest : public ::testing::Test {
 protected:
  std::uint64_t Allocated() const {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512
                                               : 0;
  }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/reserve";
};

TEST_F(ReserveTest, HoldsTheExtendedSize) {
  Reserve reserve(path_);
  EXPECT_EQ(reserve.bytes(), 0u);
  EXPECT_TRUE(reserve.Extend(64 << 10));
  EXPECT_TRUE(reserve.Extend(32 << 10));
  EXPECT_EQ(reserve.bytes(), 64u << 10);
  EXPECT_EQ(Allocated(), 64u << 10);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ReserveTest, ShrinksOnce) {
  Reserve reserve(path_);
  ASSERT_TRUE(reserve.Extend(64 << 10));
  EXPECT_TRUE(reserve.Shrink(16 << 10));
  EXPECT_EQ(Allocated(), 16u << 10);
  EXPECT_FALSE(reserve.Shrink(16 << 10)) << "there is nothing to return";
  EXPECT_TRUE(reserve.Shrink(0));
  EXPECT_FALSE(reserve.Shrink(0));
}

TEST_F(ReserveTest, IsTakenOverFromAnExistingFile) {
  { ASSERT_TRUE(Reserve(path_).Extend(64 << 10)); }
  EXPECT_EQ(Reserve(path_).bytes(), 64u << 10);
}

TEST_F(ReserveTest, CanBeExtendedAfterARelease) {
  Reserve reserve(path_);
  ASSERT_TRUE(reserve.Extend(64 << 10));
  Reserve::Release(path_);
  EXPECT_EQ(Allocated(), 0u);
  EXPECT_FALSE(reserve.Shrink(0)) << "there is nothing to return";
  EXPECT_TRUE(reserve.Extend(64 << 10));
  EXPECT_EQ(Allocated(), 64u << 10);
}

TEST_F(ReserveTest, IsEmptyIfTheDirectoryDoesNotExist) {
  Reserve reserve(directory_.path() + "/none/reserve");
  EXPECT_TRUE(reserve.Extend(64 << 10));
  EXPECT_EQ(reserve.bytes(), 0u);
  EXPECT_FALSE(reserve.Shrink(0));
  Reserve::Release(directory_.path() + "/none/reserve");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/none"));
}

}  // namespace
}  // namespace penstock::emulator::store
