#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/memory.h"

namespace penstock {
namespace {

using std::chrono::milliseconds;
using Share = MemoryBudget::Share;

constexpr milliseconds kForEver{3'600'000};

void AwaitWaiting(const MemoryBudget& budget, std::uint64_t count) {
  while (budget.usage().waiting != count) std::this_thread::yield();
}

Share Must(Result<Share> taken) {
  EXPECT_TRUE(taken.ok()) << taken.error().ToString();
  return std::move(taken).value();
}

TEST(MemoryBudgetTest, GrantsUpToTheLimit) {
  MemoryBudget budget(100);
  std::optional<Share> first = budget.TryTake(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget.TryTake(41));
  ASSERT_TRUE(budget.TryTake(40));
  first.reset();
  EXPECT_EQ(budget.usage().held, 0u);
  EXPECT_EQ(budget.usage().peak_held, 100u);
}

TEST(MemoryBudgetTest, MovedShareIsReleasedOnce) {
  MemoryBudget budget(100);
  Share share = Must(budget.Take(60));
  Share other = std::move(share);
  share = std::move(other);
  EXPECT_FALSE(other);
  EXPECT_EQ(budget.usage().held, 60u);
  share = Must(budget.Take(10));
  EXPECT_EQ(budget.usage().held, 10u);
  share.Release();
  share.Release();
  EXPECT_EQ(budget.usage().held, 0u);
}

TEST(MemoryBudgetTest, GrantsMoreThanTheLimitIfNothingElseIsHeld) {
  MemoryBudget budget(100, kForEver);
  Share small = Must(budget.Take(1));
  std::jthread large([&] { EXPECT_EQ(Must(budget.Take(1000)).bytes(), 1000u); });
  AwaitWaiting(budget, 1);
  small.Release();
  large.join();
  EXPECT_EQ(budget.usage().peak_held, 1000u);
}

TEST(MemoryBudgetTest, ServesWaitersInFifoOrder) {
  MemoryBudget budget(100, kForEver);
  Share all = Must(budget.Take(100));
  std::mutex mutex;
  std::vector<int> served;
  std::vector<std::jthread> takers;
  for (int i = 0; i < 5; ++i) {
    takers.emplace_back([&, i] {
      const Share mine = Must(budget.Take(80));  // one at a time
      const std::lock_guard lock(mutex);
      served.push_back(i);
    });
    AwaitWaiting(budget, static_cast<std::uint64_t>(i) + 1);
  }
  EXPECT_FALSE(budget.TryTake(0)) << "no caller overtakes the waiters";
  all.Release();
  takers.clear();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(MemoryBudgetTest, InterruptedWaitServesTheNextWaiter) {
  MemoryBudget budget(100, kForEver);
  Share all = Must(budget.Take(60));
  std::atomic<bool> stop = false;
  std::jthread first([&] {
    const Result<Share> taken = budget.Take(80, [&] { return stop.load(); });
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().kind, ErrorKind::kCancelled);
  });
  AwaitWaiting(budget, 1);
  std::jthread second([&] { EXPECT_TRUE(Must(budget.Take(40))); });
  AwaitWaiting(budget, 2);
  stop = true;
  second.join();
  EXPECT_EQ(budget.usage().waiting, 0u);
}

TEST(MemoryBudgetTest, ExceptionOfTheInterruptEndsTheWait) {
  MemoryBudget budget(100, kForEver);
  const Share all = Must(budget.Take(60));
  std::jthread([&] {
    const Result<Share> taken =
        budget.Take(80, []() -> bool { throw std::runtime_error("planted"); });
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().kind, ErrorKind::kInternal);
    EXPECT_NE(taken.error().message.find("planted"), std::string::npos);
  }).join();
  EXPECT_EQ(budget.usage().waiting, 0u);
  EXPECT_TRUE(Must(budget.Take(40)));
}

TEST(MemoryBudgetTest, OldestWaiterExceedsTheLimitIfNothingIsReleased) {
  MemoryBudget budget(100, milliseconds(1));
  const Share held = Must(budget.Take(100));
  // On the same thread, so no other thread can release memory.
  const Share more = Must(budget.Take(50));
  EXPECT_EQ(budget.usage().held, 150u);
  EXPECT_EQ(budget.usage().beyond_limit, 1u);
}

// Twelve writers in one thread waited a second for each part.
TEST(MemoryBudgetTest, ExceedsTheLimitAtOnceIfTheWaitingThreadHoldsAllMemory) {
  MemoryBudget budget(100, kForEver);
  const Share held = Must(budget.Take(100));
  EXPECT_TRUE(Must(budget.Take(50)));
  EXPECT_EQ(budget.usage().beyond_limit, 1u);
}

TEST(MemoryBudgetTest, ExceedsTheLimitAtOnceIfOtherThreadsHoldTooLittle) {
  MemoryBudget budget(100, kForEver);
  Share of_other;
  std::jthread([&] { of_other = Must(budget.Take(30)); }).join();
  const Share held = Must(budget.Take(60));
  EXPECT_TRUE(Must(budget.Take(50))) << "the other thread's 30 bytes would not be enough";
  EXPECT_EQ(budget.usage().beyond_limit, 1u);
}

// Symptom: beside a writer that held all memory and did nothing, a reader waited a second for each
// block.
TEST(MemoryBudgetTest, WaitsOnceForAnIdleThreadThatHoldsAllMemory) {
  constexpr milliseconds kStallLimit{200};
  MemoryBudget budget(100, kStallLimit);
  Share of_idle;
  std::jthread([&] { of_idle = Must(budget.Take(100)); }).join();
  const auto begin = std::chrono::steady_clock::now();
  for (int block = 0; block < 20; ++block) {
    Share share = Must(budget.Take(50));
    share.SetInFlight(true);
    share.SetInFlight(false);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10 * kStallLimit);
  EXPECT_EQ(budget.usage().beyond_limit, 20u);
  EXPECT_EQ(budget.usage().peak_held, 150u) << "one block at a time";
}

TEST(MemoryBudgetTest, AThreadThatUsesItsMemoryIsNotIdle) {
  MemoryBudget budget(100, kForEver);
  Share of_idle;
  std::jthread([&] { of_idle = Must(budget.Take(100)); }).join();
  std::atomic<int> polled = 0;
  EXPECT_FALSE(budget.Take(50, [&] { return ++polled == 2; }).ok());
  EXPECT_EQ(budget.usage().beyond_limit, 0u);
}

TEST(MemoryBudgetTest, WaitsForARunningThreadThatHoldsEnough) {
  MemoryBudget budget(100, kForEver);
  Share of_other = Must(budget.Take(40));
  std::jthread waiter([&] {
    const Share held = Must(budget.Take(60));
    EXPECT_TRUE(Must(budget.Take(40)));
  });
  AwaitWaiting(budget, 1);
  EXPECT_EQ(budget.usage().beyond_limit, 0u);
  of_other.Release();
  waiter.join();
  EXPECT_EQ(budget.usage().beyond_limit, 0u);
  EXPECT_EQ(budget.usage().peak_held, 100u);
}

TEST(MemoryBudgetTest, ExceedsTheLimitAtOnceWhenTheLastHolderWaits) {
  MemoryBudget budget(100, kForEver);
  const Share held = Must(budget.Take(60));
  std::jthread waiter([&] {
    const Share more = Must(budget.Take(40));
    EXPECT_TRUE(Must(budget.Take(30)));
  });
  AwaitWaiting(budget, 1);
  EXPECT_EQ(budget.usage().beyond_limit, 0u) << "this thread may still release its share";
  EXPECT_TRUE(Must(budget.Take(60)));
  waiter.join();
  EXPECT_GE(budget.usage().beyond_limit, 1u);
}

TEST(MemoryBudgetTest, ExceedsTheLimitWhenTheLastMemoryIsNoLongerInFlight) {
  MemoryBudget budget(100, kForEver);
  const Share held = Must(budget.Take(60));
  Share sent = Must(budget.Take(40));
  sent.SetInFlight(true);
  std::jthread network([&] {
    AwaitWaiting(budget, 1);
    EXPECT_EQ(budget.usage().beyond_limit, 0u);
    sent.SetInFlight(false);
  });
  EXPECT_TRUE(Must(budget.Take(50)));
  EXPECT_EQ(budget.usage().beyond_limit, 1u);
}

TEST(MemoryBudgetTest, ManyHoldersInManyThreadsExceedTheLimitByOneRequestEach) {
  constexpr std::uint64_t kHoldersPerThread = 12;
  constexpr std::uint64_t kThreads = 4;
  MemoryBudget budget(100, kForEver);
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::vector<Share> holders(kHoldersPerThread);
      for (int round = 0; round < 50; ++round) {
        for (Share& holder : holders) {
          holder.Release();
          holder = Must(budget.Take(10));
        }
      }
    });
  }
  threads.clear();
  EXPECT_GE(budget.usage().beyond_limit, 1u);
  EXPECT_LE(budget.usage().peak_held, 100u + kThreads * kHoldersPerThread * 10u);
  EXPECT_EQ(budget.usage().held, 0u);
}

TEST(MemoryBudgetTest, LimitIsNotExceededWhileMemoryIsInFlight) {
  MemoryBudget budget(100, milliseconds(1));
  Share held = Must(budget.Take(100));
  held.SetInFlight(true);
  std::atomic<int> polled = 0;
  const Result<Share> refused = budget.Take(50, [&] { return ++polled == 20; });
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(budget.usage().in_flight, 100u);
  held.SetInFlight(false);
  EXPECT_TRUE(Must(budget.Take(50)));
  EXPECT_EQ(budget.usage().beyond_limit, 1u);
}

TEST(MemoryBudgetTest, ReleasedSharesAreNotCountedAsInFlight) {
  MemoryBudget budget(100);
  Share share = Must(budget.Take(70));
  share.SetInFlight(true);
  share.SetInFlight(true);
  EXPECT_EQ(budget.usage().in_flight, 70u);
  Share moved = std::move(share);
  moved.Release();
  EXPECT_EQ(budget.usage().in_flight, 0u);
}

TEST(MemoryBudgetTest, RaisingTheLimitServesWaiters) {
  MemoryBudget budget(100, kForEver);
  const Share held = Must(budget.Take(100));
  std::jthread taker([&] { EXPECT_TRUE(Must(budget.Take(50))); });
  AwaitWaiting(budget, 1);
  budget.SetLimit(150);
  taker.join();
  EXPECT_EQ(budget.usage().limit, 150u);
}

TEST(MemoryBudgetTest, ManyThreadsStayWithinTheLimitAndFinish) {
  MemoryBudget budget(100, kForEver);
  std::vector<std::jthread> takers;
  for (unsigned seed = 0; seed < 16; ++seed) {
    takers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 200; ++i) {
        Share share = Must(budget.Take(1 + random() % 100));
        share.SetInFlight(random() % 2 == 0);
        if (random() % 4 == 0) std::this_thread::yield();
      }
    });
  }
  takers.clear();
  const MemoryBudget::Usage usage = budget.usage();
  EXPECT_LE(usage.peak_held, 100u);
  EXPECT_EQ(usage.held, 0u);
  EXPECT_EQ(usage.in_flight, 0u);
  EXPECT_EQ(usage.beyond_limit, 0u);
}

// Holds evictable shares of ten bytes each.
class TenByteShares final : public MemoryBudget::Evictable {
 public:
  TenByteShares(MemoryBudget& budget, int shares) {
    for (int i = 0; i < shares; ++i) held_.push_back(Must(budget.Take(10)));
  }
  std::uint64_t GiveUp(std::uint64_t bytes) override {
    std::uint64_t given = 0;
    const std::lock_guard lock(mutex_);
    for (; given < bytes && !held_.empty(); given += 10) {
      if (keeps_) leaving_.push_back(std::move(held_.back()));
      held_.pop_back();
    }
    return given;
  }
  std::size_t left() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  // From now on, evicted memory stays in flight until Land().
  void Keep() { keeps_ = true; }
  std::size_t leaving() const {
    const std::lock_guard lock(mutex_);
    return leaving_.size();
  }
  void Land() {
    const std::lock_guard lock(mutex_);
    leaving_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Share> held_;
  std::vector<Share> leaving_;
  bool keeps_ = false;
};

TEST(MemoryBudgetTest, WaiterGetsEvictedMemory) {
  MemoryBudget budget(100, kForEver);
  const auto evictable = std::make_shared<TenByteShares>(budget, 8);
  budget.Register(evictable);
  const Share share = Must(budget.Take(50));
  EXPECT_EQ(evictable->left(), 5u);
  EXPECT_EQ(budget.usage().taken_back, 30u);
  EXPECT_EQ(budget.usage().held, 100u);
  EXPECT_FALSE(budget.TryTake(1)) << "only a waiter evicts memory";
  EXPECT_EQ(evictable->left(), 5u);
}

TEST(MemoryBudgetTest, EvictsTheLeastRecentlyUsedFirst) {
  MemoryBudget budget(100, kForEver);
  std::vector<std::shared_ptr<TenByteShares>> spares;
  for (int i = 0; i < 3; ++i) {
    spares.push_back(std::make_shared<TenByteShares>(budget, 3));
    budget.Register(spares.back());
  }
  budget.Register(spares[0]);  // most recently used again
  const Share share = Must(budget.Take(50));
  EXPECT_EQ(spares[1]->left(), 0u);
  EXPECT_EQ(spares[2]->left(), 2u);
  EXPECT_EQ(spares[0]->left(), 3u);
  const Share more = Must(budget.Take(20));  // it had more to give and is still the first
  EXPECT_EQ(spares[2]->left(), 0u);
  EXPECT_EQ(spares[0]->left(), 3u);
}

TEST(MemoryBudgetTest, RequestAboveTheLimitEvictsEverything) {
  MemoryBudget budget(100, kForEver);
  const auto evictable = std::make_shared<TenByteShares>(budget, 3);
  budget.Register(evictable);
  EXPECT_EQ(Must(budget.Take(1000)).bytes(), 1000u);
  EXPECT_EQ(evictable->left(), 0u);
}

TEST(MemoryBudgetTest, WaitsForPromisedMemoryInsteadOfEvictingMore) {
  MemoryBudget budget(100, kForEver);
  const auto first = std::make_shared<TenByteShares>(budget, 5);
  const auto second = std::make_shared<TenByteShares>(budget, 5);
  first->Keep();
  budget.Register(first);
  budget.Register(second);
  std::jthread taker([&] { EXPECT_TRUE(Must(budget.Take(40))); });
  while (first->leaving() < 4) std::this_thread::yield();
  budget.Register(second);  // wakes the waiting thread
  first->Land();
  taker.join();
  EXPECT_EQ(first->left(), 1u);
  EXPECT_EQ(second->left(), 5u);
}

TEST(MemoryBudgetTest, RegisteringEvictableMemoryServesWaiters) {
  MemoryBudget budget(100, kForEver);
  const auto evictable = std::make_shared<TenByteShares>(budget, 10);
  std::jthread taker([&] { EXPECT_TRUE(Must(budget.Take(50))); });
  AwaitWaiting(budget, 1);
  budget.Register(evictable);
  taker.join();
  EXPECT_EQ(evictable->left(), 5u);
}

TEST(MemoryBudgetTest, WithdrawnEvictablesAreNeverUsedAgain) {
  MemoryBudget budget(100, milliseconds(1));
  const auto evictable = std::make_shared<TenByteShares>(budget, 10);
  budget.Register(evictable);
  budget.Unregister(*evictable);
  budget.Register(evictable);
  budget.Withdraw(*evictable);
  budget.Register(evictable);
  const Share share = Must(budget.Take(10));
  EXPECT_EQ(evictable->left(), 10u);
  EXPECT_EQ(evictable.use_count(), 1);
}

TEST(MemoryBudgetTest, FairShareDividesTheLimitEvenly) {
  MemoryBudget budget(100, kForEver);
  EXPECT_EQ(budget.FairShare(), 100u);
  const auto one = std::make_shared<TenByteShares>(budget, 1);
  const auto other = std::make_shared<TenByteShares>(budget, 1);
  budget.Register(one);
  budget.Register(one);
  EXPECT_EQ(budget.FairShare(), 100u);
  budget.Register(other);
  EXPECT_EQ(budget.FairShare(), 50u);
  budget.Unregister(*one);
  EXPECT_EQ(budget.FairShare(), 100u);
}

TEST(MemoryBudgetTest, ForkedChildHasItsOwnBudgetWithTheSameLimit) {
  MemoryBudget& parents = MemoryBudget::PerProcess();
  const std::uint64_t before = parents.limit();
  parents.SetLimit(32 << 20);
  Share held = Must(parents.Take(20 << 20));
  const pid_t child = ::fork();
  if (child == 0) {
    held.Release();  // belongs to the parent: a no-op here
    MemoryBudget& own = MemoryBudget::PerProcess();
    const bool good =
        &own != &parents && own.limit() == 32u << 20 && own.TryTake(32 << 20).has_value();
    std::_Exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(parents.usage().held, 20u << 20);
  parents.SetLimit(before);
}

}  // namespace
}  // namespace penstock
