#include "emulator/lifecycle/worker.h"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>

namespace penstock::emulator::lifecycle {
namespace {

using std::chrono::nanoseconds;

// Is due until it has run `due` times.
class Member final : public Worker::Member {
 public:
  explicit Member(int due) : due_(due) {}

  std::optional<nanoseconds> UntilRun() override {
    return due_ > 0 ? std::optional(nanoseconds(0)) : std::nullopt;
  }
  void RunDue(const std::function<bool()>& cancelled) override {
    --due_;
    if (block_until_cancelled) {
      started.count_down();
      while (!cancelled()) std::this_thread::yield();
    }
    if (throws) throw std::runtime_error("planted");
    if (due_ == 0) done.count_down();
  }

  bool block_until_cancelled = false;
  bool throws = false;
  std::latch started{1};
  std::latch done{1};

  void Add(int runs) { due_ += runs; }

 private:
  std::atomic<int> due_;
};

TEST(LifecycleWorkerTest, RunsMembersUntilNothingIsDue) {
  const auto first = std::make_shared<Member>(1);
  const auto second = std::make_shared<Member>(3);
  const Worker worker([&] { return std::vector<std::shared_ptr<Worker::Member>>{first, second}; });
  first->done.wait();
  second->done.wait();
  EXPECT_FALSE(first->UntilRun());
  EXPECT_FALSE(second->UntilRun());
}

TEST(LifecycleWorkerTest, AWakeStartsARunThatBecameDue) {
  const auto member = std::make_shared<Member>(0);
  Worker worker([&] { return std::vector<std::shared_ptr<Worker::Member>>{member}; });
  member->Add(1);
  worker.Wake();
  member->done.wait();
  EXPECT_FALSE(member->UntilRun());
}

TEST(LifecycleWorkerTest, StoppingCancelsARun) {
  const auto member = std::make_shared<Member>(1);
  member->block_until_cancelled = true;
  Worker worker([&] { return std::vector<std::shared_ptr<Worker::Member>>{member}; });
  member->started.wait();
  worker.Stop();
  member->done.wait();
  EXPECT_FALSE(member->UntilRun());
}

TEST(LifecycleWorkerTest, AFailedRunDoesNotEndTheThread) {
  const auto failing = std::make_shared<Member>(1);
  failing->throws = true;
  const auto member = std::make_shared<Member>(1);
  const Worker worker([&] {
    return std::vector<std::shared_ptr<Worker::Member>>{failing, member};
  });
  member->done.wait();
  EXPECT_FALSE(failing->UntilRun());
}

TEST(LifecycleWorkerTest, WithoutMemoryForTheListOfMembersTheThreadGoesOn) {
  const auto member = std::make_shared<Member>(1);
  std::latch failed{1};
  Worker worker([&] {
    if (!failed.try_wait()) {
      failed.count_down();
      throw std::bad_alloc();
    }
    return std::vector<std::shared_ptr<Worker::Member>>{member};
  });
  failed.wait();
  worker.Wake();
  member->done.wait();
  EXPECT_FALSE(member->UntilRun());
}

TEST(LifecycleWorkerTest, AMemberWithoutATimeDoesNotKeepOthersFromRunning) {
  class WithoutTime final : public Worker::Member {
    std::optional<nanoseconds> UntilRun() override { throw std::bad_alloc(); }
    void RunDue(const std::function<bool()>&) override {}
  };
  const auto member = std::make_shared<Member>(1);
  const Worker worker([&] {
    return std::vector<std::shared_ptr<Worker::Member>>{std::make_shared<WithoutTime>(), member};
  });
  member->done.wait();
  EXPECT_FALSE(member->UntilRun());
}

}  // namespace
}  // namespace penstock::emulator::lifecycle
