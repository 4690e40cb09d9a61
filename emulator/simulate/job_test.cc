#include "emulator/simulate/job.h"

#include "gtest/gtest.h"

namespace penstock::emulator::simulate {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(JobTest, CountsRequests) {
  Job job{.ranks = 4,
          .files_per_rank = 2,
          .file_bytes = 96 * kMiB,
          .part_bytes = 32 * kMiB,
          .rounds = 3};
  EXPECT_EQ(RequestsOf(job), 3U * (4 * 2 * (3 + 2) + 1))
      << "create, three parts, complete; one commit per round";
  job.file_bytes = 32 * kMiB;
  EXPECT_EQ(RequestsOf(job), 3U * (4 * 2 + 1)) << "one PUT per file";
  job.operation = Operation::kLoad;
  EXPECT_EQ(RequestsOf(job), 3U * (4 * 2 + 4)) << "every rank reads the metadata";
  job.operation = Operation::kList;
  EXPECT_EQ(RequestsOf(job), 12U);
}

TEST(JobTest, DefaultJobIsValid) { EXPECT_TRUE(CheckJob({}).ok()); }

TEST(JobTest, RejectsInvalidJobsAndNamesTheReason) {
  EXPECT_EQ(CheckJob({.path = "a/{foo}/{round}"}).error().message,
            "path 'a/{foo}/{round}' has '{foo}', which is not a field; only {round} is supported");
  EXPECT_EQ(CheckJob({.path = "{"}).error().message,
            "path '{' has '{', which is not a field; only {round} is supported");
  EXPECT_TRUE(CheckJob({.path = "a/{round}/{round}}"}).ok());
  EXPECT_EQ(CheckJob({.ranks = 0}).error().message, "ranks must be 1 to 65536, not 0");
  EXPECT_EQ(CheckJob({.file_bytes = 20'001, .part_bytes = 2}).error().message,
            "files of 20001 bytes in parts of 2 are 10001 parts, and the limit of S3 is 10000: "
            "increase part_bytes");
  EXPECT_EQ(CheckJob({.ranks = 65'536, .files_per_rank = 4'096}).error().message.substr(0, 27),
            "the job has 9126805505 requ");
  EXPECT_FALSE(CheckJob({.round_every = std::chrono::seconds(-1)}).ok());
  EXPECT_FALSE(CheckJob({.deadline = std::chrono::seconds(0)}).ok());
  EXPECT_FALSE(CheckJob({.naming = {.strategy = Strategy::kRoundRobin}}).ok());
  EXPECT_FALSE(CheckJob({.limits = {.reads_per_second = 0}}).ok());
}

// Regression: a round that began after the deadline had a negative duration.
TEST(JobTest, EveryRoundBeginsBeforeTheDeadline) {
  using std::chrono::seconds;
  Job job{.rounds = 3, .round_every = seconds(30), .deadline = seconds(61)};
  EXPECT_TRUE(CheckJob(job).ok());
  job.deadline = seconds(60);
  EXPECT_EQ(CheckJob(job).error().message,
            "3 rounds every 30 s do not all begin before the deadline of 60 s: use at most 2 "
            "rounds, a smaller round_every_s or a larger deadline_s");
  job.rounds = 2;
  EXPECT_TRUE(CheckJob(job).ok());
  job.rounds = 10'000;
  job.round_every = seconds(1'000'000'000);
  EXPECT_EQ(CheckJob(job).error().message,
            "10000 rounds every 1000000000 s do not all begin before the deadline of 60 s: use at "
            "most 1 round, a smaller round_every_s or a larger deadline_s");
  job.round_every = {};
  EXPECT_TRUE(CheckJob(job).ok());
}

TEST(JobTest, HasTheLimitsOfTheCaller) {
  const Job job{.ranks = 10, .file_bytes = 1, .connections_per_rank = 4};
  EXPECT_TRUE(CheckJob(job, {.most_requests = 11, .most_connections = 40}).ok());
  EXPECT_EQ(CheckJob(job, {.most_requests = 10}).error().message,
            "the job has 11 requests, and the limit is 10: use fewer ranks, files or rounds");
  EXPECT_EQ(CheckJob(job, {.most_connections = 39}).error().message,
            "the job has 40 connections (ranks times connections_per_rank), and the limit is 39: "
            "use fewer");
}

// Regression: the number of requests overflowed, so a job of 10^22 requests was accepted.
TEST(JobTest, NumberOfRequestsDoesNotOverflow) {
  const Job job{.operation = Operation::kLoad,
                .ranks = 65'536,
                .files_per_rank = 4'096,
                .file_bytes = 50'000'000'000'000,
                .part_bytes = 1,
                .rounds = 10'000};
  EXPECT_EQ(RequestsOf(job), UINT64_MAX);
  EXPECT_FALSE(CheckJob(job).ok());
}

TEST(JobTest, OperationsHaveNames) {
  for (const Operation operation : {Operation::kSave, Operation::kLoad, Operation::kList}) {
    EXPECT_EQ(FindOperation(OperationName(operation)).value(), operation);
  }
  EXPECT_EQ(FindOperation("copy").error().message,
            "unknown operation 'copy': expected one of save, load, list");
}

}  // namespace
}  // namespace penstock::emulator::simulate
