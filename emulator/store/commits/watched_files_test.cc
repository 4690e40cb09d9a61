#include "emulator/store/commits/watched_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;

class WatchedFilesTest : public ::testing::Test {
 protected:
  WatchedFilesTest() {
    fs::create_directory(folder_);
    std::ofstream(file_) << "content";
  }

  const testing::TemporaryDirectory directory_;
  const std::string folder_ = directory_.path() + "/folder";
  const std::string file_ = folder_ + "/file";
  const std::string moved_ = directory_.path() + "/moved";
};

TEST_F(WatchedFilesTest, FindsARemovedFileThatWasCreatedAgain) {
  const WatchedFiles watched({folder_, file_});
  EXPECT_TRUE(watched.Exist());
  fs::remove(file_);
  EXPECT_FALSE(watched.Exist());
  std::ofstream(file_) << "content";
  EXPECT_FALSE(watched.Exist()) << "its number may be that of the removed file";
}

TEST_F(WatchedFilesTest, FindsAMovedDirectoryUntilItIsBack) {
  const WatchedFiles watched({file_});
  fs::rename(folder_, moved_);
  EXPECT_FALSE(watched.Exist());
  fs::copy(moved_, folder_, fs::copy_options::recursive);
  EXPECT_FALSE(watched.Exist());
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file";
  EXPECT_FALSE(watched.Exist());
  fs::remove(folder_);
  fs::create_directory_symlink(moved_, folder_);
  EXPECT_TRUE(watched.Exist()) << "the path leads to the same file";
}

TEST_F(WatchedFilesTest, AFileThatIsMissingFromTheStartDoesNotExist) {
  EXPECT_FALSE(WatchedFiles({file_, folder_ + "/other"}).Exist());
}

TEST_F(WatchedFilesTest, AfterCloseNoFileExists) {
  WatchedFiles watched({file_});
  watched.Close();
  EXPECT_FALSE(watched.Exist());
}

TEST(RemovedErrorTest, IsAFailureOfTheServer) {
  const Error error = RemovedError("user database 'users.db'");
  EXPECT_EQ(error.kind, ErrorKind::kDataLoss);
  EXPECT_EQ(error.code, "InternalError");
  EXPECT_EQ(error.http_status, 500);
  EXPECT_NE(error.message.find("'users.db' was removed"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::store
