#include "emulator/store/commits/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

class WriteQueueTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Connection> OpenTable() {
    auto opened = Connection::Open(":memory:");
    EXPECT_TRUE(opened.ok());
    EXPECT_TRUE((*opened)->Execute("CREATE TABLE t(a INTEGER PRIMARY KEY)").ok());
    return std::move(opened).value();
  }
  static Result<void> Insert(WriteTransaction& transaction, std::int64_t value) {
    return Query(transaction.connection(), "INSERT INTO t VALUES(?)").Bind(value).Run();
  }
  std::int64_t Count() {
    const auto lease = pool_.Take();
    Query query(**lease, "SELECT count(*) FROM t");
    EXPECT_TRUE(*query.Step());
    return query.Int(0);
  }

  // Inserts its value and records the result.
  class RecordingWrite final : public WriteQueue::Deferred {
   public:
    RecordingWrite(std::int64_t value, std::string& outcomes)
        : value_(value), outcomes_(outcomes) {}
    Result<void> Write(WriteTransaction& transaction) override {
      return Insert(transaction, value_);
    }
    void Done(Result<void> result) noexcept override {
      outcomes_ += std::to_string(value_) + (result.ok() ? " " : "! ");
    }

   private:
    const std::int64_t value_;
    std::string& outcomes_;
  };
  void Submit(std::int64_t value, WriteQueue& queue) {
    queue.Submit(std::make_unique<RecordingWrite>(value, outcomes_), executor_);
  }
  void Submit(std::int64_t value) { Submit(value, queue_); }

  struct ManualExecutor final : Executor {
    void Execute(Task& task, Caller caller) noexcept override {
      tasks.Push(task);
      callers += caller == Caller::kReturns ? "returns " : "goes on ";
    }
    // False: there is no task.
    bool RunOne() {
      Task* const task = tasks.Pop();
      if (task != nullptr) task->Run();
      return task != nullptr;
    }
    TaskList tasks;
    std::string callers;
  };

  ConnectionPool pool_{OpenTable()};
  WriteQueue queue_{pool_};
  ManualExecutor executor_;
  std::string outcomes_;
};

TEST_F(WriteQueueTest, CommitsAndThenRunsTheEffects) {
  bool called = false;
  ASSERT_TRUE(queue_
                  .Run([&](WriteTransaction& transaction) {
                    transaction.AfterCommit([&] { called = true; });
                    EXPECT_FALSE(called);
                    return Insert(transaction, 1);
                  })
                  .ok());
  EXPECT_TRUE(called);
  EXPECT_EQ(Count(), 1);
}

TEST_F(WriteQueueTest, AFailureUndoesOnlyItsOwnWorkAndEffects) {
  bool called = false;
  const auto failed = queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
    transaction.AfterCommit([&] { called = true; });
    PENSTOCK_TRY(Insert(transaction, 1));
    return Error::Make(ErrorKind::kConflict, "no");
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kConflict);
  EXPECT_FALSE(called);
  EXPECT_EQ(Count(), 0);
}

TEST_F(WriteQueueTest, EveryCallerOfABatchGetsItsOwnResult) {
  constexpr int kThreads = 8;
  constexpr int kWrites = 50;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWrites; ++i) {
        const bool fail = i % 3 == 0;
        const auto batching =
            i % 10 == 0 ? WriteQueue::Batching::kAlone : WriteQueue::Batching::kAllowed;
        const auto work = [&](WriteTransaction& transaction) -> Result<void> {
          PENSTOCK_TRY(Insert(transaction, thread * kWrites + i));
          if (fail) return Error::Make(ErrorKind::kConflict, std::to_string(thread));
          return Ok();
        };
        const auto result = queue_.Run(work, batching);
        if (result.ok() == fail) ++wrong;
        if (!result.ok() && result.error().message != std::to_string(thread)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Count(), kThreads * (kWrites - 17));  // 17 of 50 fail: 0, 3, ... 48
}

TEST_F(WriteQueueTest, EndingTheTransactionFailsOnlyThatWork) {
  const auto rolls_back = [](WriteTransaction& transaction) -> Result<void> {
    // Imitates SQLite's automatic rollback when the disk is full.
    PENSTOCK_TRY(transaction.connection().Execute("ROLLBACK"));
    return Error::Make(ErrorKind::kResourceExhausted, "full");
  };
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        if (thread == 0) {
          if (queue_.Run(rolls_back).ok()) ++lost;
        } else if (!queue_.Run([&](WriteTransaction& t) { return Insert(t, thread * 100 + i); })
                        .ok()) {
          ++lost;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(Count(), 150);
}

TEST_F(WriteQueueTest, AnExceptionOfAWriteIsReportedAndCounted) {
  const std::uint64_t before = DiagnosticCounts()["store.write_threw"];
  const auto failed = queue_.Run(
      [](WriteTransaction&) -> Result<void> { throw std::out_of_range("a key is missing"); });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(failed.error().message, "unexpected exception: a key is missing");
  EXPECT_EQ(DiagnosticCounts()["store.write_threw"], before + 1);
}

// Regression: after work had thrown, later writes waited for its ticket forever, or read it from a
// stack frame that no longer existed.
TEST_F(WriteQueueTest, WorkThatThrowsFailsAlone) {
  const auto broken = [](WriteTransaction& transaction) -> Result<void> {
    PENSTOCK_TRY(Insert(transaction, 1'000'000));
    throw std::bad_alloc();
  };
  const auto failed = queue_.Run(broken);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kResourceExhausted);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        if (thread == 0) {
          if (queue_.Run(broken).ok()) ++wrong;
        } else if (!queue_.Run([&](WriteTransaction& t) { return Insert(t, thread * 100 + i); })
                        .ok()) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Count(), 150);
}

// Regression: an exception outside the work (in an effect or the pool) left the whole batch in the
// queue.
TEST_F(WriteQueueTest, AnExceptionOutsideTheWorkFailsTheBatch) {
  bool called = false;
  const auto failed = queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
    transaction.AfterCommit([] { throw std::bad_alloc(); });
    transaction.AfterCommit([&] { called = true; });
    return Insert(transaction, 1);
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_TRUE(called) << "the other effects must still run";
  ConnectionPool closed(1, []() -> Result<std::unique_ptr<Connection>> { throw std::bad_alloc(); });
  WriteQueue without(closed);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(without.Run([](WriteTransaction&) { return Ok(); }).error().kind,
              ErrorKind::kResourceExhausted);
  }
  EXPECT_TRUE(queue_.Run([](WriteTransaction& t) { return Insert(t, 2); }).ok());
  // The effect threw after the commit, so the write is stored although the caller gets an error.
  EXPECT_EQ(Count(), 2);
}

TEST_F(WriteQueueTest, EffectsRunBeforeAndAfterTheCommit) {
  std::string phases;
  Connection* connection = nullptr;
  ASSERT_TRUE(queue_
                  .Run([&](WriteTransaction& transaction) {
                    connection = &transaction.connection();
                    transaction.AroundCommit([&](CommitPhase phase) {
                      phases += phase == CommitPhase::kBefore      ? "before"
                                : phase == CommitPhase::kCommitted ? " committed"
                                                                   : " undone";
                      EXPECT_EQ(connection->InTransaction(), phase == CommitPhase::kBefore);
                    });
                    return Insert(transaction, 1);
                  })
                  .ok());
  EXPECT_EQ(phases, "before committed");
}

TEST_F(WriteQueueTest, AnEffectThatThrowsBeforeTheCommitUndoesTheWrite) {
  int undone = 0;
  const auto failed = queue_.Run([&](WriteTransaction& transaction) {
    transaction.AroundCommit(
        [&](CommitPhase phase) { undone += phase == CommitPhase::kUndone ? 1 : 0; });
    transaction.AroundCommit([](CommitPhase phase) {
      if (phase == CommitPhase::kBefore) throw std::bad_alloc();
    });
    return Insert(transaction, 1);
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(undone, 1);
  EXPECT_EQ(Count(), 0);
  EXPECT_TRUE(
      queue_.Run([](WriteTransaction& transaction) { return Insert(transaction, 2); }).ok());
}

TEST_F(WriteQueueTest, DeferredWritesShareOneTask) {
  for (const int value : {1, 2, 3}) Submit(value);
  EXPECT_EQ(executor_.callers, "returns ");
  EXPECT_EQ(outcomes_, "");
  EXPECT_EQ(Count(), 0);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 2 3 ");
  EXPECT_EQ(Count(), 3);
  EXPECT_FALSE(executor_.RunOne());
  Submit(4);  // the next write needs another task
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 2 3 4 ");
}

TEST_F(WriteQueueTest, AFailedDeferredWriteFailsAlone) {
  for (const int value : {1, 2, 1, 3}) Submit(value);  // the second 1 is a duplicate key
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 2 1! 3 ");
  EXPECT_EQ(Count(), 3);
}

TEST_F(WriteQueueTest, TheNextTaskWritesTheRestOfALargeBatch) {
  for (int value = 0; value < 100; ++value) Submit(value);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_LT(Count(), 100);
  EXPECT_EQ(executor_.callers, "returns returns ");
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(Count(), 100);
  EXPECT_FALSE(executor_.RunOne());
}

TEST_F(WriteQueueTest, ABlockingWriterHandsLaterWritesToTheExecutor) {
  const auto result = queue_.Run([&](WriteTransaction& transaction) {
    Submit(2);  // submitted while this batch is being written
    return Insert(transaction, 1);
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(executor_.callers, "goes on ");
  EXPECT_EQ(outcomes_, "");
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "2 ");
}

TEST_F(WriteQueueTest, ABlockingWriteAfterATaskCompletes) {
  Submit(1);
  std::atomic<bool> done{false};
  std::thread waiting([&] {
    EXPECT_TRUE(queue_.Run([](WriteTransaction& t) { return Insert(t, 2); }).ok());
    done = true;
  });
  EXPECT_TRUE(executor_.RunOne());  // writes both, or only the first
  waiting.join();
  EXPECT_TRUE(done);
  EXPECT_EQ(Count(), 2);
}

TEST_F(WriteQueueTest, ATaskWithoutAConnectionFailsItsWholeBatch) {
  ConnectionPool closed(1, []() -> Result<std::unique_ptr<Connection>> { throw std::bad_alloc(); });
  WriteQueue without(closed);
  for (const int value : {1, 2}) Submit(value, without);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1! 2! ");
}

// A COMMIT can fail, for example on a full disk. Then no write may be reported as stored.
TEST_F(WriteQueueTest, AFailedCommitFailsOnlyTheWritesThatCauseIt) {
  {
    const auto lease = pool_.Take();
    ASSERT_TRUE((**lease)
                    .Execute("PRAGMA foreign_keys=1; CREATE TABLE c(a REFERENCES t(a) DEFERRABLE "
                             "INITIALLY DEFERRED)")
                    .ok());
  }
  class Orphan final : public WriteQueue::Deferred {
   public:
    explicit Orphan(std::string& outcomes) : outcomes_(outcomes) {}
    Result<void> Write(WriteTransaction& transaction) override {
      return Query(transaction.connection(), "INSERT INTO c VALUES(999)").Run();
    }
    void Done(Result<void> result) noexcept override {
      outcomes_ += result.ok() ? "orphan " : "orphan! ";
    }

   private:
    std::string& outcomes_;
  };
  Submit(1);
  queue_.Submit(std::make_unique<Orphan>(outcomes_), executor_);
  Submit(2);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 orphan! 2 ");
  EXPECT_EQ(Count(), 2);
}

// A disk that can be full, on which MakeRoom frees space for removals. Its files can be marked as
// removed.
class FullDisk final : public StorageGuard {
 public:
  Result<void> Admit() noexcept override {
    return is_full ? Result<void>(Error::Make(ErrorKind::kResourceExhausted, "full")) : Ok();
  }
  bool MakeRoom() noexcept override {
    has_room = true;
    is_full = true;
    return true;
  }
  void Reclaim(Connection&) noexcept override { ++reclaimed; }
  Result<void> Confirm() noexcept override {
    return is_removed ? Result<void>(Error::Make(ErrorKind::kDataLoss, "removed")) : Ok();
  }

  bool is_full = false;
  bool has_room = true;
  bool is_removed = false;
  int reclaimed = 0;
};

class GuardedWriteQueueTest : public WriteQueueTest {
 protected:
  Result<void> Write(std::int64_t value, WriteQueue::Purpose purpose) {
    const auto work = [&](WriteTransaction& transaction) -> Result<void> {
      if (!disk_.has_room) return Error::Make(ErrorKind::kResourceExhausted, "no room");
      return Insert(transaction, value);
    };
    return guarded_.Run(work, WriteQueue::Batching::kAllowed, purpose);
  }

  FullDisk disk_;
  WriteQueue guarded_{pool_, &disk_};
};

TEST_F(GuardedWriteQueueTest, AFullDiskAdmitsOnlyRemovals) {
  disk_.is_full = true;
  EXPECT_EQ(Write(1, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_TRUE(Write(2, WriteQueue::Purpose::kRemove).ok());
  EXPECT_EQ(Count(), 1);
}

TEST_F(GuardedWriteQueueTest, ARemovalWithoutRoomRunsAgainInTheReserve) {
  disk_.has_room = false;
  EXPECT_EQ(Write(1, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_FALSE(disk_.is_full) << "the reserve is for removals only";
  EXPECT_TRUE(Write(2, WriteQueue::Purpose::kRemove).ok());
  EXPECT_EQ(disk_.reclaimed, 1);
  EXPECT_EQ(Write(3, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(Count(), 1);
}

TEST_F(GuardedWriteQueueTest, ACommitToRemovedFilesIsNotAcknowledged) {
  disk_.is_removed = true;
  EXPECT_EQ(Write(1, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(Write(2, WriteQueue::Purpose::kRemove).error().kind, ErrorKind::kDataLoss);
}

}  // namespace
}  // namespace penstock::emulator::store
