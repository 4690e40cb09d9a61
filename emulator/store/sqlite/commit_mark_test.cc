#include "emulator/store/sqlite/commit_mark.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

class CommitMarkTest : public ::testing::Test {
 protected:
  void Store(std::uint32_t frames) {
    auto mark = CommitMark::Open(path_);
    ASSERT_TRUE(mark.ok()) << mark.error().ToString();
    CommitState state = (*mark)->state();
    state.frames = frames;
    state.boot_id = BootId();
    ASSERT_TRUE((*mark)->Store(state).ok());
  }
  void Damage(std::streamoff offset) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(offset);
    file.put(byte);
  }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/db-mark";
};

TEST_F(CommitMarkTest, KeepsTheLastState) {
  EXPECT_EQ(CommitMark::Inspect(path_)->state, std::nullopt);
  for (std::uint32_t frames = 1; frames < 6; ++frames) {
    Store(frames);
    const auto state = CommitMark::Inspect(path_)->state;
    ASSERT_TRUE(state.has_value());
    EXPECT_EQ(state->frames, frames);
    EXPECT_EQ(state->boot_id, BootId());
  }
}

TEST_F(CommitMarkTest, ATornWriteKeepsThePreviousState) {
  Store(1);
  Store(2);
  Damage(20);  // the second state is in the first slot
  EXPECT_EQ(CommitMark::Inspect(path_)->state->frames, 1u);
  Store(3);  // uses the torn slot
  EXPECT_EQ(CommitMark::Inspect(path_)->state->frames, 3u);
}

TEST_F(CommitMarkTest, AFileWithoutAValidSlotHasNoState) {
  Store(1);
  Store(2);
  Damage(20);
  Damage(2048 + 20);
  EXPECT_EQ(CommitMark::Inspect(path_)->state, std::nullopt);
  std::ofstream(path_, std::ios::trunc).close();
  EXPECT_EQ(CommitMark::Inspect(path_)->state, std::nullopt);
  Store(4);
  EXPECT_EQ(CommitMark::Inspect(path_)->state->frames, 4u);
}

TEST_F(CommitMarkTest, DescribesTheProblemOfTheFile) {
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "is missing");
  ASSERT_TRUE(CommitMark::Open(path_).ok());
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "is empty");
  Store(1);
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "");
  Store(2);
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "");
  Damage(20);
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "has a damaged slot");
  Damage(2048 + 20);
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "is damaged");
  std::filesystem::resize_file(path_, 100);
  EXPECT_EQ(CommitMark::Inspect(path_)->problem, "has 100 bytes instead of 4096");
}

TEST_F(CommitMarkTest, OnlyTheOwnerMayReadTheFile) {
  Store(1);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(CommitMarkTest, TheErrorNamesAnUnusablePath) {
  const auto mark = CommitMark::Open("/dev/null/db-mark");
  ASSERT_FALSE(mark.ok());
  EXPECT_NE(mark.error().message.find("/dev/null/db-mark"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::store
