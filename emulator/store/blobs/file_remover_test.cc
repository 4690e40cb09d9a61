#include "emulator/store/blobs/file_remover.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

class FileRemoverTest : public ::testing::Test {
 protected:
  std::string NewFile(int number) const {
    const std::string path = directory_.path() + "/" + std::to_string(number);
    std::ofstream(path) << "bytes";
    return path;
  }
  std::size_t FilesLeft() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_.path()), {}));
  }

  const testing::TemporaryDirectory directory_;
};

TEST_F(FileRemoverTest, CallsBackAfterTheFileIsUnlinked) {
  FileRemover remover;
  const std::string path = NewFile(1);
  bool was_there = true;
  remover.Remove(path, [&] { was_there = std::filesystem::exists(path); });
  remover.Flush();
  EXPECT_FALSE(was_there);
}

TEST_F(FileRemoverTest, RemovesOnItsOwnThread) {
  FileRemover remover;
  std::thread::id other;
  remover.Remove(NewFile(1), [&] { other = std::this_thread::get_id(); });
  remover.Flush();
  EXPECT_NE(other, std::thread::id());
  EXPECT_NE(other, std::this_thread::get_id());
}

TEST_F(FileRemoverTest, ManyThreadsMayExceedTheQueueLimit) {
  constexpr int kThreads = 4;
  constexpr int kFiles = 4 * static_cast<int>(FileRemover::kMaxWaiting);
  std::atomic<int> removed{0};
  FileRemover remover;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < kFiles; ++j) remover.Remove(NewFile(i * kFiles + j), [&] { ++removed; });
    });
  }
  threads.clear();
  remover.Flush();
  EXPECT_EQ(removed.load(), kThreads * kFiles);
  EXPECT_EQ(FilesLeft(), 0u);
}

TEST_F(FileRemoverTest, DestructorRemovesAllFiles) {
  {
    FileRemover remover;
    for (int i = 0; i < 8; ++i) remover.Remove(NewFile(i), [] {});
  }
  EXPECT_EQ(FilesLeft(), 0u);
}

TEST_F(FileRemoverTest, CallsBackForFilesThatCannotBeUnlinked) {
  FileRemover remover;
  bool called = false;
  remover.Remove(directory_.path() + "/no/such", [&] { called = true; });
  remover.Flush();
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace penstock::emulator::store
