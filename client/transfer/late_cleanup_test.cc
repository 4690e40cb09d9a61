#include "client/transfer/late_cleanup.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <thread>

#include "base/log/caught.h"
#include "base/testing/threads_cannot_start.h"

namespace penstock::transfer {
namespace {

using std::chrono::milliseconds;

TEST(LateCleanup, WaitsUpToTheGivenTime) {
  std::atomic<bool> ran{false};
  EXPECT_TRUE(RunCleanup([&] { ran = true; }, std::chrono::minutes(1)));
  EXPECT_TRUE(ran);
}

TEST(LateCleanup, ContinuesAfterTheWaitEnds) {
  auto gate = std::make_shared<std::promise<void>>();
  std::promise<void> over;
  EXPECT_FALSE(RunCleanup(
      [gate, &over] {
        gate->get_future().wait();
        over.set_value();
      },
      milliseconds(1)));
  gate->set_value();
  over.get_future().wait();
}

TEST(LateCleanup, DestroysItsCapturesBeforeItCountsAsFinished) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  EXPECT_TRUE(
      RunCleanup([owned = std::move(owned)] { EXPECT_EQ(*owned, 1); }, std::chrono::minutes(1)));
  EXPECT_TRUE(watch.expired());
}

TEST(LateCleanup, CountsAnExceptionOfTheTask) {
  const std::uint64_t before = CaughtExceptions();
  EXPECT_TRUE(RunCleanup([] { throw std::bad_alloc(); }, std::chrono::minutes(1)));
  EXPECT_EQ(CaughtExceptions(), before + 1);
}

// The exit of the test program would hang if a failed cleanup still counted as running.
TEST(LateCleanup, RunsOnTheCallingThreadIfAThreadCannotStart) {
  const testing::ThreadsCannotStart none;
  std::thread::id thread;
  EXPECT_TRUE(RunCleanup([&] { thread = std::this_thread::get_id(); }, std::chrono::minutes(1)));
  EXPECT_EQ(thread, std::this_thread::get_id());
}

std::array<int, 2> at_exit{};

// Runs in a child process to observe its exit. The cleanup continues only once the process exits.
TEST(LateCleanup, ProcessExitWaitsForIt) {
  std::array<int, 2> exit_pipe{};
  ASSERT_EQ(::pipe(exit_pipe.data()), 0);
  ASSERT_EQ(::pipe(at_exit.data()), 0);
  const ::pid_t child = ::fork();
  if (child == 0) {
    RunCleanup(
        [out = exit_pipe[1]] {
          char byte = 0;
          if (::read(at_exit[0], &byte, 1) == 1) static_cast<void>(!::write(out, "x", 1));
        },
        milliseconds(0));
    // Exit handlers run in reverse order of registration.
    std::atexit([] { static_cast<void>(!::write(at_exit[1], "e", 1)); });
    std::exit(0);
  }
  ::close(exit_pipe[1]);
  char byte = 0;
  EXPECT_EQ(::read(exit_pipe[0], &byte, 1), 1);
  for (const int fd : {exit_pipe[0], at_exit[0], at_exit[1]}) ::close(fd);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock::transfer
