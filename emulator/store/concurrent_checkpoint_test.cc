#include "emulator/store/concurrent_checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "emulator/store/store_testing.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

class ConcurrentCheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::Open(path_);
    ASSERT_TRUE(opened.ok());
    writer_ = std::move(opened).value();
    writer_->OnCommit([this](int pages) { log_pages_ = pages; });  // no automatic checkpoints
    Execute(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE bytes(a);"
        "CREATE TABLE count(n); INSERT INTO count VALUES(0)");
    auto checkpoint = ConcurrentCheckpoint::Open(path_);
    ASSERT_TRUE(checkpoint.ok());
    checkpoint_ = std::move(checkpoint).value();
  }
  void Execute(const std::string& sql) { ASSERT_TRUE(writer_->Execute(sql).ok()); }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/db";
  std::unique_ptr<Connection> writer_;
  std::unique_ptr<ConcurrentCheckpoint> checkpoint_;
  int log_pages_ = 0;
};

TEST_F(ConcurrentCheckpointTest, TheLogRestartsAfterAllPagesWereMoved) {
  Execute("INSERT INTO bytes VALUES(zeroblob(20000))");
  const int before = log_pages_;
  ASSERT_TRUE(checkpoint_->Run().ok());
  Execute("UPDATE count SET n = n + 1");
  EXPECT_LT(log_pages_, before);
}

// Short commits follow a long one: commits are lost only if the new log becomes as long as the old
// one was. Without the read transaction, this failed within 1 to 20 s.
TEST_F(ConcurrentCheckpointTest, ReadersSeeEveryCommit) {
  const auto opened = OpenReader(path_);
  ASSERT_TRUE(opened.ok());
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> runs{0};
  std::thread thread([&] {
    for (; !stop; ++runs) EXPECT_TRUE(checkpoint_->Run().ok());
  });
  const std::chrono::seconds duration(std::getenv("PENSTOCK_LONG") == nullptr ? 3 : 240);
  const auto end = std::chrono::steady_clock::now() + duration;
  std::int64_t count = 0;
  for (int round = 1; std::chrono::steady_clock::now() < end && !HasFailure(); ++round) {
    const std::string size = std::to_string(4'000 * (round % 7 + 1));
    Execute("UPDATE count SET n = n + 1; DELETE FROM bytes; INSERT INTO bytes VALUES(zeroblob(" +
            size + "))");
    ++count;
    const std::uint64_t before = runs;
    while (runs < before + 2) std::this_thread::yield();
    for (int i = 0; i < 12; ++i) {
      Execute("UPDATE count SET n = n + 1");
      Query query(**opened, "SELECT n FROM count");
      const auto row = query.Step();
      ASSERT_TRUE(row.ok() && *row);
      EXPECT_EQ(query.Int(0), ++count);
    }
  }
  stop = true;
  thread.join();
}

}  // namespace
}  // namespace penstock::emulator::store
