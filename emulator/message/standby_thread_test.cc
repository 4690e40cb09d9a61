#include "emulator/message/standby_thread.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>

namespace penstock::emulator::message {
namespace {

TEST(StandbyThread, RunsEveryTaskOnItsThread) {
  StandbyThread standby;
  std::set<std::thread::id> threads;
  int runs = 0;
  for (int i = 0; i < 1'000; ++i) {
    standby.Begin([&] {
      threads.insert(std::this_thread::get_id());
      ++runs;
    });
    standby.Await();
  }
  EXPECT_EQ(runs, 1'000);
  EXPECT_EQ(threads.size(), 1u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(StandbyThread, AwaitDestroysTheTask) {
  StandbyThread standby;
  auto held = std::make_shared<int>(0);
  standby.Begin([held] { ++*held; });
  standby.Await();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 1);
}

TEST(StandbyThread, DestructorWaitsForTheTask) {
  std::atomic<bool> ended{false};
  {
    StandbyThread standby;
    standby.Begin([&] {
      std::this_thread::yield();
      ended = true;
    });
  }
  EXPECT_TRUE(ended);
}

TEST(StandbyThread, IsNotHereInAForkedChild) {
  StandbyThread standby;
  EXPECT_TRUE(standby.is_here());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(standby.is_here() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock::emulator::message
