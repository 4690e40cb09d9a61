#include "client/cache/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "penstock/base/blocking.h"

namespace penstock::cache {
namespace {

TEST(WorkPoolTest, RunsWorkOnThreadsThatMustNotBlock) {
  std::promise<bool> ran;
  ASSERT_TRUE(WorkPool::PerProcess().Submit([&] { ran.set_value(OnIoThread()); }));
  EXPECT_TRUE(ran.get_future().get());
}

TEST(WorkPoolTest, AnExceptionEndsOnlyItsWork) {
  WorkPool& pool = WorkPool::PerProcess();
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(pool.Submit([] { throw std::runtime_error("planned"); }));
  std::promise<void> ran;
  ASSERT_TRUE(pool.Submit([&] { ran.set_value(); }));
  ran.get_future().get();
}

TEST(WorkPoolTest, ResumesWhatIsReady) {
  WorkPool& pool = WorkPool::PerProcess();
  std::atomic<bool> ready{false};
  std::promise<void> asked, resumed;
  std::atomic<bool> first{true};
  ASSERT_TRUE(pool.When(
      [&] {
        if (first.exchange(false)) asked.set_value();
        return ready.load();
      },
      [&] { resumed.set_value(); }));
  asked.get_future().get();
  ready = true;
  pool.Poke();
  resumed.get_future().get();
}

TEST(WorkPoolTest, NoticesWithoutAPoke) {
  std::atomic<int> calls{0};
  std::promise<void> resumed;
  ASSERT_TRUE(
      WorkPool::PerProcess().When([&] { return ++calls >= 3; }, [&] { resumed.set_value(); }));
  resumed.get_future().get();
  EXPECT_EQ(calls, 3);
}

TEST(WorkPoolTest, AnExceptionOfTheConditionResumes) {
  std::promise<void> resumed;
  ASSERT_TRUE(WorkPool::PerProcess().When([]() -> bool { throw std::runtime_error("planned"); },
                                          [&] { resumed.set_value(); }));
  resumed.get_future().get();
}

}  // namespace
}  // namespace penstock::cache
