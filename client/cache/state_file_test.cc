#include "client/cache/state_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "client/cache/cache_test_support.h"

namespace penstock::cache {
namespace {

class StateFileTest : public ::testing::Test {
 protected:
  StateFile::Ptr Open() const { return StateFile::Open(path_, true).value(); }
  // Returns the result of `check` in a forked child.
  static bool InChild(const std::function<bool()>& check) {
    const ::pid_t child = ::fork();
    if (child == 0) ::_exit(check() ? 1 : 0);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/state";
};

TEST_F(StateFileTest, TheUsesOfAProcessShareADescriptorWhateverThePath) {
  const StateFile::Ptr file = Open();
  const std::string other = directory_.path() + "/../" +
                            std::filesystem::path(directory_.path()).filename().string() + "/state";
  EXPECT_EQ(StateFile::Open(other, false).value().get(), file.get());
}

TEST_F(StateFileTest, OtherUsesOfAProcessKeepItsLocks) {
  const StateFile::Ptr file = Open();
  ASSERT_TRUE(file->TryLock(7));
  Open().reset();
  EXPECT_FALSE(file->IsLocked(7)) << "only other processes count";
  EXPECT_TRUE(InChild([&] { return Open()->IsLocked(7); }));
  file->Unlock(7);
  EXPECT_FALSE(InChild([&] { return Open()->IsLocked(7); }));
}

TEST_F(StateFileTest, AFileOfTheParentDoesNotReleaseTheLocksOfAChild) {
  const StateFile::Ptr file = Open();
  StateFile::Ptr of_parent = Open();
  EXPECT_TRUE(InChild([&] {
    const StateFile::Ptr own = Open();
    const bool locked = own != file && own->TryLock(7);
    of_parent.reset();
    // A grandchild is another process than the owner of the lock.
    return locked && InChild([&] { return Open()->IsLocked(7); });
  }));
}

TEST_F(StateFileTest, TheLastUseClosesTheFile) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  StateFile::Ptr file = Open();
  Open().reset();
  EXPECT_EQ(open_files(), before + 1);
  file.reset();
  EXPECT_EQ(open_files(), before);
}

TEST_F(StateFileTest, AReplacedFileIsAnotherOne) {
  const StateFile::Ptr file = Open();
  std::filesystem::remove(path_);
  EXPECT_FALSE(StateFile::Open(path_, false).ok());
  EXPECT_NE(Open().get(), file.get());
}

}  // namespace
}  // namespace penstock::cache
