#include "emulator/server/namespaces/directory_leases.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

class DirectoryLeasesTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/one";
  const std::shared_ptr<DirectoryLeases> leases_ = DirectoryLeases::Create();
};

TEST_F(DirectoryLeasesTest, ShareOneDirectory) {
  const auto first = leases_->Take(path_);
  const auto second = leases_->Take(path_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(&(*first)->directory(), &(*second)->directory());
  EXPECT_TRUE((*first)->is_first());
  EXPECT_FALSE((*second)->is_first());
}

TEST_F(DirectoryLeasesTest, LastLeaseUnlocksTheDirectory) {
  auto first = leases_->Take(path_).value();
  auto second = leases_->Take(path_).value();
  first.reset();
  EXPECT_FALSE(DataDirectory::Open(path_).ok());
  second.reset();
  EXPECT_TRUE(DataDirectory::Open(path_).ok());
}

TEST_F(DirectoryLeasesTest, LastLeaseRemovesADeletedDirectory) {
  auto first = leases_->Take(path_).value();
  auto second = leases_->Take(path_).value();
  fs::create_directories(first->directory().CurrentPath());
  ASSERT_TRUE(first->directory().MarkDeleted().ok());
  first.reset();
  EXPECT_TRUE(fs::exists(path_));
  second.reset();
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(DirectoryLeasesTest, ReusedDirectoryIsNotRemoved) {
  auto deleted = leases_->Take(path_).value();
  ASSERT_TRUE(deleted->directory().MarkDeleted().ok());
  auto anew = leases_->Take(path_).value();
  fs::create_directories(anew->directory().NextPath() + "/blobs");  // as in a complete store
  anew->directory().AdoptNext();
  deleted.reset();
  EXPECT_FALSE(anew->directory().is_deleted());
  anew.reset();
  EXPECT_FALSE(DataDirectory::IsDeleted(path_));
}

TEST_F(DirectoryLeasesTest, WorksWithManyThreads) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int j = 0; j < 50; ++j) EXPECT_TRUE(leases_->Take(path_).ok());
      });
    }
  }
  EXPECT_TRUE(DataDirectory::Open(path_).ok());
}

TEST_F(DirectoryLeasesTest, FailureLeavesNoEntry) {
  std::ofstream(path_) << "in the way";
  EXPECT_FALSE(leases_->Take(path_).ok());
  fs::remove(path_);
  EXPECT_TRUE(leases_->Take(path_).ok());
}

}  // namespace
}  // namespace penstock::emulator::server
