#include "emulator/store/system/directory_lock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

class DirectoryLockTest : public ::testing::Test {
 protected:
  const testing::TemporaryDirectory directory_;
};

TEST_F(DirectoryLockTest, OnlyOneProcessMayChangeADirectory) {
  auto first = DirectoryLock::Take(directory_.path());
  ASSERT_TRUE(first.ok());
  const auto second = DirectoryLock::Take(directory_.path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(second.error().message.find(directory_.path() + " is in use by another emulator"),
            std::string::npos);
  { const DirectoryLock moved = std::move(first).value(); }
  EXPECT_TRUE(DirectoryLock::Take(directory_.path()).ok());
}

TEST_F(DirectoryLockTest, ReadersShareAnUnlockedDirectory) {
  ASSERT_TRUE(DirectoryLock::Take(directory_.path()).ok());  // creates the file
  const auto first = DirectoryLock::Share(directory_.path());
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(DirectoryLock::Share(directory_.path()).ok());
  EXPECT_FALSE(DirectoryLock::Take(directory_.path()).ok());
}

TEST_F(DirectoryLockTest, ReadersAreRejectedWhileADirectoryIsLocked) {
  const auto writer = DirectoryLock::Take(directory_.path());
  const auto reader = DirectoryLock::Share(directory_.path());
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().message.find("is in use by an emulator; stop it"), std::string::npos);
}

TEST_F(DirectoryLockTest, ReadersChangeNothing) {
  EXPECT_TRUE(DirectoryLock::Share(directory_.path()).ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

}  // namespace
}  // namespace penstock::emulator::store
