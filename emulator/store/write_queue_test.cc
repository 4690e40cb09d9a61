#include "emulator/store/write_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/diagnostics.h"

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

  // Inserts its value and notes what became of it.
  class Note final : public WriteQueue::Deferred {
   public:
    Note(std::int64_t value, std::string& outcomes) : value_(value), outcomes_(outcomes) {}
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
    queue.Submit(std::make_unique<Note>(value, outcomes_), executor_);
  }
  void Submit(std::int64_t value) { Submit(value, queue_); }

  struct ListingExecutor final : Executor {
    void Execute(Task& task, Caller caller) noexcept override {
      tasks.Push(task);
      callers += caller == Caller::kReturns ? "returns " : "goes on ";
    }
    // False: there is none.
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
  ListingExecutor executor_;
  std::string outcomes_;
};

TEST_F(WriteQueueTest, CommitsAndThenRunsTheEffects) {
  bool told = false;
  ASSERT_TRUE(queue_
                  .Run([&](WriteTransaction& transaction) {
                    transaction.AfterCommit([&] { told = true; });
                    EXPECT_FALSE(told);
                    return Insert(transaction, 1);
                  })
                  .ok());
  EXPECT_TRUE(told);
  EXPECT_EQ(Count(), 1);
}

TEST_F(WriteQueueTest, AFailureUndoesItsOwnWorkAndEffects) {
  bool told = false;
  const auto failed = queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
    transaction.AfterCommit([&] { told = true; });
    PENSTOCK_TRY(Insert(transaction, 1));
    return Error::Make(ErrorKind::kConflict, "no");
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kConflict);
  EXPECT_FALSE(told);
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

TEST_F(WriteQueueTest, AnEndedTransactionFailsOnlyWhoEndedIt) {
  const auto rude = [](WriteTransaction& transaction) -> Result<void> {
    // what SQLite does by itself on a full disk
    PENSTOCK_TRY(transaction.connection().Execute("ROLLBACK"));
    return Error::Make(ErrorKind::kResourceExhausted, "full");
  };
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        if (thread == 0) {
          if (queue_.Run(rude).ok()) ++lost;
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

TEST_F(WriteQueueTest, AnExceptionOfAWriteIsNamedAndCounted) {
  const std::uint64_t before = DiagnosticCounts()["store.write_threw"];
  const auto failed = queue_.Run(
      [](WriteTransaction&) -> Result<void> { throw std::out_of_range("a key is missing"); });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(failed.error().message, "unexpected exception: a key is missing");
  EXPECT_EQ(DiagnosticCounts()["store.write_threw"], before + 1);
}

// After work had thrown, every later write hung behind its ticket, or read it from a stack frame
// that was gone.
TEST_F(WriteQueueTest, WorkThatThrowsFailsAloneAndTheQueueGoesOn) {
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

// An exception outside any work (an effect, the pool) once left the whole batch in the queue.
TEST_F(WriteQueueTest, WhatIsThrownAroundTheWorkFailsTheBatchAndLeavesNoTransactionOpen) {
  bool told = false;
  const auto failed = queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
    transaction.AfterCommit([] { throw std::bad_alloc(); });
    transaction.AfterCommit([&] { told = true; });
    return Insert(transaction, 1);
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_TRUE(told) << "the other effects keep memory and disk alike";
  ConnectionPool closed(1, []() -> Result<std::unique_ptr<Connection>> { throw std::bad_alloc(); });
  WriteQueue without(closed);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(without.Run([](WriteTransaction&) { return Ok(); }).error().kind,
              ErrorKind::kResourceExhausted);
  }
  EXPECT_TRUE(queue_.Run([](WriteTransaction& t) { return Insert(t, 2); }).ok());
  // the effect threw after its commit: the caller cannot know, as with a lost answer
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

TEST_F(WriteQueueTest, WritesThatNobodyWaitsForShareTheTaskOfTheFirst) {
  for (const int value : {1, 2, 3}) Submit(value);
  EXPECT_EQ(executor_.callers, "returns ");
  EXPECT_EQ(outcomes_, "");
  EXPECT_EQ(Count(), 0);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 2 3 ");
  EXPECT_EQ(Count(), 3);
  EXPECT_FALSE(executor_.RunOne());
  Submit(4);  // the next one needs an task again
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 2 3 4 ");
}

TEST_F(WriteQueueTest, AFailureAmongThemIsItsOwn) {
  for (const int value : {1, 2, 1, 3}) Submit(value);  // the key is there already
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1 2 1! 3 ");
  EXPECT_EQ(Count(), 3);
}

TEST_F(WriteQueueTest, WhatDoesNotFitOneBatchIsTheNextTasks) {
  for (int value = 0; value < 100; ++value) Submit(value);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_LT(Count(), 100);
  EXPECT_EQ(executor_.callers, "returns returns ");
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(Count(), 100);
  EXPECT_FALSE(executor_.RunOne());
}

TEST_F(WriteQueueTest, AWaitingWriterThatGoesOnLeavesTheRestToSomebodyElse) {
  const auto result = queue_.Run([&](WriteTransaction& transaction) {
    Submit(2);  // comes while this batch is written
    return Insert(transaction, 1);
  });
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(executor_.callers, "goes on ");
  EXPECT_EQ(outcomes_, "");
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "2 ");
}

TEST_F(WriteQueueTest, WhoWaitsBehindAnTaskIsServed) {
  Submit(1);
  std::atomic<bool> done{false};
  std::thread waiting([&] {
    EXPECT_TRUE(queue_.Run([](WriteTransaction& t) { return Insert(t, 2); }).ok());
    done = true;
  });
  EXPECT_TRUE(executor_.RunOne());  // with the other, or before it
  waiting.join();
  EXPECT_TRUE(done);
  EXPECT_EQ(Count(), 2);
}

TEST_F(WriteQueueTest, AnTaskThatCannotWriteFailsEveryOneOfItsBatch) {
  ConnectionPool closed(1, []() -> Result<std::unique_ptr<Connection>> { throw std::bad_alloc(); });
  WriteQueue without(closed);
  for (const int value : {1, 2}) Submit(value, without);
  EXPECT_TRUE(executor_.RunOne());
  EXPECT_EQ(outcomes_, "1! 2! ");
}

// What a commit may fail with, as on a full disk: nobody is told that his write is there.
TEST_F(WriteQueueTest, ACommitThatFailsIsAFailureForAllWhoCannotDoWithout) {
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

// A disk that is full for every work but the first after MakeRoom, and files that can be gone.
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
    return is_gone ? Result<void>(Error::Make(ErrorKind::kDataLoss, "gone")) : Ok();
  }

  bool is_full = false;
  bool has_room = true;
  bool is_gone = false;
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

TEST_F(GuardedWriteQueueTest, OnAFullDiskOnlyRemovalsAreAdmitted) {
  disk_.is_full = true;
  EXPECT_EQ(Write(1, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_TRUE(Write(2, WriteQueue::Purpose::kRemove).ok());
  EXPECT_EQ(Count(), 1);
}

TEST_F(GuardedWriteQueueTest, ARemovalThatFindsNoRoomIsRunAgainInTheReserve) {
  disk_.has_room = false;
  EXPECT_EQ(Write(1, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_FALSE(disk_.is_full) << "the reserve is not for what brings bytes";
  EXPECT_TRUE(Write(2, WriteQueue::Purpose::kRemove).ok());
  EXPECT_EQ(disk_.reclaimed, 1);
  EXPECT_EQ(Write(3, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(Count(), 1);
}

TEST_F(GuardedWriteQueueTest, ACommitToFilesThatAreGoneIsNotAcknowledged) {
  disk_.is_gone = true;
  EXPECT_EQ(Write(1, WriteQueue::Purpose::kStore).error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(Write(2, WriteQueue::Purpose::kRemove).error().kind, ErrorKind::kDataLoss);
}

}  // namespace
}  // namespace penstock::emulator::store
