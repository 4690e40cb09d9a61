#include "client/transfer/files/file_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>

#include "base/testing/threads_cannot_start.h"

namespace penstock::transfer {
namespace {

FileTask Task(const std::string& path, std::function<Result<std::uint64_t>()> run) {
  return {path, ObjectKey(path), [run](const CallOptions&) { return run(); }};
}

TEST(FilePoolTest, RunsFilesInParallelAndCountsThem) {
  DirectoryOptions options{.max_parallel_files = 3};
  std::set<std::string> reported;
  options.on_file = [&](const std::string& path, const ObjectKey&, const Error* error) {
    reported.insert(path + (error == nullptr ? "" : " failed"));
  };
  const Interrupt none;
  FilePool pool(options, none);
  std::latch together(3);  // no file ends before three have started
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(pool.Submit(Task(std::to_string(i), [&]() -> Result<std::uint64_t> {
      together.arrive_and_wait();
      return std::uint64_t{10};
    })));
  pool.Submit(Task("bad", []() -> Result<std::uint64_t> {
    return Error::Make(ErrorKind::kNotFound, "planted");
  }));
  pool.Submit(
      Task("throws", []() -> Result<std::uint64_t> { throw std::runtime_error("planted"); }));
  pool.Fail("refused", ObjectKey("k"), Error::Make(ErrorKind::kInvalidArgument, "planted"));
  const auto response = pool.Finish();
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->files, 3u);
  EXPECT_EQ(response->bytes, 30u);
  EXPECT_EQ(response->failures.size(), 3u);
  EXPECT_EQ(reported, (std::set<std::string>{"0", "1", "2", "bad failed", "throws failed",
                                             "refused failed"}));
}

TEST(FilePoolTest, StopsAfterTheLimitOfFailures) {
  const DirectoryOptions options{.max_parallel_files = 1, .max_failures = 2};
  const Interrupt none;
  FilePool pool(options, none);
  int submitted = 0;
  while (submitted < 1000 && pool.Submit(Task("f", []() -> Result<std::uint64_t> {
    return Error::Make(ErrorKind::kNotFound, "planted");
  }))) {
    ++submitted;
  }
  EXPECT_LT(submitted, 1000);
  EXPECT_EQ(pool.Finish()->failures.size(), 2u);
}

TEST(FilePoolTest, InterruptCancelsFilesInProgress) {
  const DirectoryOptions options{.max_parallel_files = 1};
  const Interrupt now = [] { return true; };
  FilePool pool(options, now);
  pool.Submit({"f", ObjectKey("f"), [](const CallOptions& call) -> Result<std::uint64_t> {
                 while (!call.cancel.stop_requested()) std::this_thread::yield();
                 return Error::Make(ErrorKind::kCancelled, "stopped");
               }});
  EXPECT_EQ(pool.Finish().error().kind, ErrorKind::kCancelled);
  EXPECT_FALSE(pool.Submit(Task("late", [] { return Result<std::uint64_t>(0); })));
}

TEST(FilePoolTest, ExceptionOfTheInterruptIsTheErrorOfTheTransfer) {
  const DirectoryOptions options{.max_parallel_files = 1};
  const Interrupt throws = []() -> bool { throw std::runtime_error("planted"); };
  FilePool pool(options, throws);
  pool.Submit({"f", ObjectKey("f"), [](const CallOptions& call) -> Result<std::uint64_t> {
                 while (!call.cancel.stop_requested()) std::this_thread::yield();
                 return Error::Make(ErrorKind::kCancelled, "stopped");
               }});
  const auto response = pool.Finish();
  ASSERT_FALSE(response.ok());
  EXPECT_NE(response.error().message.find("planted"), std::string::npos)
      << response.error().message;
}

TEST(FilePoolTest, FailsIfNoThreadCanStart) {
  const DirectoryOptions options{.max_parallel_files = 2};
  const Interrupt none;
  FilePool pool(options, none);
  const penstock::testing::ThreadsCannotStart no_threads;
  EXPECT_FALSE(pool.Submit(Task("f", [] { return Result<std::uint64_t>(1); })));
  const auto response = pool.Finish();
  ASSERT_FALSE(response.ok()) << "the file was dropped without an error";
  EXPECT_NE(response.error().message.find("thread"), std::string::npos) << response.error().message;
}

TEST(FilePoolTest, DeadlineEndsTheTransfer) {
  DirectoryOptions options{.max_parallel_files = 1};
  options.call.deadline = Deadline::After(SystemClock(), std::chrono::milliseconds(1));
  const Interrupt none;
  FilePool pool(options, none);
  pool.Submit({"f", ObjectKey("f"), [](const CallOptions& call) -> Result<std::uint64_t> {
                 while (!call.cancel.stop_requested()) std::this_thread::yield();
                 return Error::Make(ErrorKind::kCancelled, "stopped");
               }});
  EXPECT_EQ(pool.Finish().error().kind, ErrorKind::kTimeout);
}

// The requests of the files notice the deadline before the pool polls it.
TEST(FilePoolTest, FilesThatEndAtTheDeadlineAreNoFailures) {
  DirectoryOptions options{.max_parallel_files = 2};
  options.call.deadline = Deadline::After(SystemClock(), std::chrono::milliseconds(1));
  const Interrupt none;
  FilePool pool(options, none);
  for (int i = 0; i < 2; ++i)
    pool.Submit({"f", ObjectKey("f"), [](const CallOptions& call) -> Result<std::uint64_t> {
                   while (!call.deadline.Passed(SystemClock())) std::this_thread::yield();
                   return Error::Make(ErrorKind::kTimeout, "the deadline passed");
                 }});
  EXPECT_EQ(pool.Finish().error().kind, ErrorKind::kTimeout);
}

TEST(FilePoolTest, ATimeoutBeforeTheDeadlineIsAFailureOfTheFile) {
  DirectoryOptions options{.max_parallel_files = 1};
  options.call.deadline = Deadline::After(SystemClock(), std::chrono::hours(1));
  const Interrupt none;
  FilePool pool(options, none);
  pool.Submit(Task(
      "f", []() -> Result<std::uint64_t> { return Error::Make(ErrorKind::kTimeout, "planted"); }));
  EXPECT_EQ(pool.Finish()->failures.size(), 1u);
}

}  // namespace
}  // namespace penstock::transfer
