#include "emulator/store/housekeeper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/log/diagnostics.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using testing::WaitUntil;

class HousekeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::Open(path_);
    ASSERT_TRUE(opened.ok());
    ASSERT_TRUE((*opened)->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)").ok());
    connection_ = opened->get();
    writer_.emplace(std::move(opened).value());
  }
  void Commit(Housekeeper& housekeeper) {
    const auto lease = writer_->Take();
    connection_->OnCommit([&](int pages) {
      log_pages_ = pages;
      housekeeper.Committed(*connection_, pages);
    });
    ASSERT_TRUE((**lease).Execute("INSERT INTO t VALUES(zeroblob(9000))").ok());
  }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/db";
  Connection* connection_ = nullptr;
  std::optional<ConnectionPool> writer_;
  int log_pages_ = 0;
};

TEST_F(HousekeeperTest, RunsStepsBetweenCheckpoints) {
  std::atomic<int> steps{0};
  const auto step = [&] {
    ++steps;
    return std::chrono::nanoseconds(0);
  };
  Housekeeper housekeeper({.database = path_, .checkpoint_pages = 20, .step = step}, *writer_,
                          [](const std::atomic<bool>&) {});
  EXPECT_TRUE(WaitUntil([&] { return steps > 3; }));
  EXPECT_TRUE(WaitUntil([&] {
    const int before = log_pages_;
    Commit(housekeeper);
    return log_pages_ < before;
  }));
}

TEST_F(HousekeeperTest, DestructorInterruptsTheWaitForTheNextStep) {
  const auto step = [] { return std::chrono::nanoseconds(std::chrono::hours(1)); };
  const Housekeeper housekeeper(
      {.database = path_, .step = step, .first_step_after = std::chrono::hours(1)}, *writer_,
      [](const std::atomic<bool>&) {});
}

TEST_F(HousekeeperTest, MovesTheLogToTheDatabaseDuringCommits) {
  Housekeeper housekeeper({.database = path_, .checkpoint_pages = 20}, *writer_,
                          [](const std::atomic<bool>&) {});
  int before = 0;
  EXPECT_TRUE(WaitUntil([&] {
    before = log_pages_;
    Commit(housekeeper);
    return log_pages_ < before;  // the log was restarted
  })) << "the log only grew, to "
      << log_pages_ << " pages";
  EXPECT_GE(before, 20);
  EXPECT_GT(std::filesystem::file_size(path_), 10u * 4096);
}

TEST_F(HousekeeperTest, AFailedCheckpointIsCounted) {
  const std::uint64_t before = DiagnosticCounts()["store.checkpoint_failed"];
  Housekeeper housekeeper({.database = directory_.path() + "/none/db", .checkpoint_pages = 1},
                          *writer_, [](const std::atomic<bool>&) {});
  Commit(housekeeper);
  EXPECT_TRUE(WaitUntil([&] { return DiagnosticCounts()["store.checkpoint_failed"] > before; }));
}

TEST_F(HousekeeperTest, ACommitRunsTheCheckpointIfTheThreadCannotKeepUp) {
  std::atomic<bool> swept{false};
  Housekeeper housekeeper({.database = path_, .checkpoint_pages = 4, .largest_log_pages = 30},
                          *writer_, [&](const std::atomic<bool>& stop) {
                            // Keeps the thread busy during the whole test.
                            WaitUntil([&] { return stop.load(); });
                            swept = true;
                          });
  int longest = 0;
  for (int i = 0; i < 60; ++i) {
    Commit(housekeeper);
    longest = std::max(longest, log_pages_);
  }
  EXPECT_FALSE(swept);
  EXPECT_LT(longest, 40);
}

TEST_F(HousekeeperTest, DestructorInterruptsTheSweep) {
  std::atomic<bool> called{false};
  {
    Housekeeper housekeeper({.database = path_}, *writer_, [&](const std::atomic<bool>& stop) {
      called = WaitUntil([&] { return stop.load(); });
    });
  }
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace penstock::emulator::store
