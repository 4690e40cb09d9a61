#include "emulator/simulate/simulation.h"

#include <string>

#include "emulator/simulate/documents.h"
#include "gtest/gtest.h"

namespace penstock::emulator::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kMiB = 1 << 20;

// One PUT per rank and no latency: only the limits take time.
Job Puts(std::uint32_t ranks, std::string_view limits = "aws-strict",
         std::string_view client = "crt") {
  Job job{.ranks = ranks, .file_bytes = kMiB, .part_bytes = kMiB};
  job.limits = traffic::PresetLimits(limits).value();
  job.latency = traffic::FindProfile("none").value();
  job.client = FindPolicy(client).value();
  return job;
}

Report ReportOf(const Job& job) {
  Result<Report> report = Simulate(job);
  EXPECT_TRUE(report.ok());
  return std::move(report).value();
}

TEST(SimulationTest, JobWithoutRejectionsHasAllRequestsAndBytes) {
  Job job = Puts(4, "aws-standard");
  job.file_bytes = 10 * kMiB;
  job.part_bytes = 4 * kMiB;
  job.files_per_rank = 2;
  const Report report = ReportOf(job);
  EXPECT_EQ(report.requests, RequestsOf(job));
  EXPECT_EQ(report.requests, 4U * 2 * 5 + 1);
  EXPECT_EQ(report.bytes, 4U * 2 * 10 * kMiB);
  EXPECT_EQ(report.refused, 0U);
  ASSERT_EQ(report.rounds.size(), 1U);
  EXPECT_TRUE(report.rounds[0].committed);
}

TEST(SimulationTest, CanBeCancelled) {
  Job job = Puts(65'536, "aws-standard");
  job.rounds = 100;
  job.warm_partitions = 2;
  for (const int last : {1, 150, 200}) {  // while it makes ranks and keys, and runs
    int calls = 0;
    const auto report = Simulate(job, {.cancelled = [&] { return ++calls == last; }});
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(calls, last);
  }
}

TEST(SimulationTest, TransferTimeFollowsTheConnectionSpeed) {
  Job job = Puts(1, "aws-standard");
  job.file_bytes = 100 * kMiB;
  job.part_bytes = 10 * kMiB;
  job.connections_per_rank = 5;
  // Five connections with 10 MiB/s each: ten parts take two rounds of one second.
  job.rank_bytes_per_second = 50 * kMiB;
  EXPECT_EQ(ReportOf(job).ended, Instant(seconds(2)));
}

// 35 writes per second, a burst of three, eight ranks at time zero: three are admitted and five are
// rejected. The retries depend on the client.
TEST(SimulationTest, BurstAboveTheBudgetIsRejected) {
  Job job = Puts(8);
  job.client.max_attempts = 1;
  const Report report = ReportOf(job);
  EXPECT_EQ(report.requests, 8U);
  EXPECT_EQ(report.refused, 5U);
  EXPECT_EQ(report.gave_up, 5U);
  ASSERT_EQ(report.rounds.size(), 1U);
  EXPECT_FALSE(report.rounds[0].committed);
  EXPECT_EQ(report.rounds[0].ranks_failed, 5U);
}

TEST(SimulationTest, StaggeredRanksAreNotRejected) {
  Job job = Puts(350);
  job.start_spread = seconds(10);
  EXPECT_EQ(ReportOf(job).refused, 0U);
}

TEST(SimulationTest, RetriesCompleteTheSave) {
  const Report report = ReportOf(Puts(64));
  EXPECT_GT(report.refused, 32U);
  EXPECT_EQ(report.retries, report.refused) << "no client gave up, so each rejection was retried";
  EXPECT_EQ(report.requests - report.refused, 65U);
  EXPECT_TRUE(report.rounds[0].committed);
}

TEST(SimulationTest, ThreeAttemptsLoseACheckpointThatMoreAttemptsSave) {
  EXPECT_FALSE(ReportOf(Puts(256, "aws-strict", "standard")).rounds[0].committed);
  EXPECT_TRUE(ReportOf(Puts(256, "aws-strict", "crt")).rounds[0].committed);
}

TEST(SimulationTest, ReportDependsOnlyOnJobAndSeed) {
  Job job = Puts(64);
  job.latency = traffic::FindProfile("s3-standard").value();
  const std::string first = ReportJson(job, ReportOf(job));
  EXPECT_EQ(ReportJson(job, ReportOf(job)), first);
  job.seed = 2;
  EXPECT_NE(ReportJson(job, ReportOf(job)), first);
}

TEST(SimulationTest, PartitionsSplitUnderALongJobWithPrefixes) {
  Job job = Puts(512);
  job.naming.strategy = Strategy::kHex;
  job.path = "checkpoint";
  job.files_per_rank = 40;
  job.client.max_attempts = 1'000;
  job.client.quota = 0;
  job.limits.split_after = seconds(5);
  const Report report = ReportOf(job);
  EXPECT_TRUE(report.rounds[0].committed);
  ASSERT_FALSE(report.events.empty());
  EXPECT_EQ(report.events[0].boundary, "checkpoint/8")
      << "split in the middle of the sixteen first digits";
  EXPECT_GT(report.intervals.back().partitions, 4U);
  EXPECT_GT(report.partitions.size(), 4U);
}

TEST(SimulationTest, LoadReadsTheMetadataAndEveryByte) {
  Job job = Puts(16, "aws-standard");
  job.operation = Operation::kLoad;
  job.file_bytes = 10 * kMiB;
  job.part_bytes = 4 * kMiB;
  const Report report = ReportOf(job);
  EXPECT_EQ(report.requests, 16U + 16 * 3);
  EXPECT_EQ(report.bytes, 16U * 10 * kMiB);
  EXPECT_TRUE(report.rounds[0].committed);
}

// Every rank lists the same prefix at once (mlcommons/storage#667).
TEST(SimulationTest, ListStampedeIsRejectedAboveTheBurst) {
  Job job = Puts(512);
  job.operation = Operation::kList;
  job.client.max_attempts = 1;
  const Report report = ReportOf(job);
  EXPECT_EQ(report.requests, 512U);
  EXPECT_EQ(report.refused, 512U - 5) << "the burst is 100 ms of 55 reads per second";
}

// The purpose of the strategies: keys that keep their position in key order let the next save use
// the partitions of the last one. A new directory per step starts again in one partition.
TEST(SimulationTest, PrefixStrategyKeepsPartitionsAcrossRounds) {
  Job job = Puts(64);
  job.rounds = 6;
  job.round_every = seconds(60);
  job.files_per_rank = 10;
  job.client.max_attempts = 1'000;
  job.client.quota = 0;
  job.limits.split_after = seconds(3);
  job.limits.merge_after = {};
  const Report by_step = ReportOf(job);
  job.path = "checkpoint";
  job.naming = {.strategy = Strategy::kHex, .epoch = 0};
  const Report by_prefix = ReportOf(job);
  const auto lasted = [](const Report& report) {
    return report.rounds.back().ended - report.rounds.back().began;
  };
  EXPECT_LT(lasted(by_prefix) * 2, lasted(by_step));
}

// Earlier saves of the same job have split the bucket at the keys of the strategy.
TEST(SimulationTest, WarmPartitionsHelpOnlyStableKeys) {
  Job job = Puts(64);
  const std::uint64_t cold = ReportOf(job).refused;
  job.warm_partitions = 16;
  const Report by_step = ReportOf(job);
  EXPECT_EQ(by_step.refused, cold) << "all keys of this step are in the last partition";
  ASSERT_EQ(by_step.partitions.size(), 1U);
  EXPECT_TRUE(by_step.partitions[0].begin.starts_with("checkpoint/step_7/"))
      << by_step.partitions[0].begin;
  for (const Strategy strategy : {Strategy::kBinary, Strategy::kHex}) {
    Job other = job;
    other.naming.strategy = strategy;
    EXPECT_EQ(ReportOf(other).refused, cold) << "in a directory per step the prefixes are new, too";
    other.path = "checkpoint";
    const Report by_prefix = ReportOf(other);
    EXPECT_EQ(by_prefix.refused, 64U - 16 * 3) << "a burst of three in each of sixteen partitions";
    EXPECT_EQ(by_prefix.partitions.size(), 16U);
  }
}

TEST(SimulationTest, WarmBucketOfManyFilesIsSplitEvenly) {
  Job job = Puts(4'096, "aws-standard");
  job.path = "checkpoint";
  job.naming.strategy = Strategy::kBinary;
  job.files_per_rank = 10;
  job.warm_partitions = 8;
  const Report report = ReportOf(job);
  ASSERT_EQ(report.partitions.size(), 8U);
  for (const PartitionSeries& partition : report.partitions) {
    std::uint64_t requests = 0;
    for (const std::uint64_t each : partition.requests) requests += each;
    EXPECT_NEAR(static_cast<double>(requests), static_cast<double>(report.requests) / 8,
                static_cast<double>(report.requests) / 80);
  }
}

TEST(SimulationTest, WarmBucketHasAMultipleOfTheRate) {
  Job job = Puts(64);
  job.path = "checkpoint";
  const Report cold = ReportOf(job);
  job.warm_partitions = 16;
  const Report warm = ReportOf(job);
  EXPECT_GT(cold.refused, 60U);
  EXPECT_EQ(warm.refused, 64U - 16 * 3) << "a burst of three in each of sixteen partitions";
}

TEST(SimulationTest, RoundsStartOnTimeInSeparatePaths) {
  Job job = Puts(2, "aws-standard");
  job.rounds = 3;
  job.round_every = seconds(60);
  const Report report = ReportOf(job);
  ASSERT_EQ(report.rounds.size(), 3U);
  EXPECT_EQ(report.rounds[2].began, Instant(seconds(120)));
  EXPECT_EQ(report.requests, 9U);
}

TEST(SimulationTest, RoundsThatWouldBeginLateAreNotRun) {
  Job job = Puts(1, "aws-standard");
  job.rounds = 5;
  job.round_every = seconds(1);
  job.rank_bytes_per_second = kMiB;  // A round takes more than eight seconds.
  job.deadline = seconds(10);
  const Report report = ReportOf(job);
  ASSERT_EQ(report.rounds.size(), 2U);
  for (const Round& round : report.rounds) EXPECT_LT(round.began, round.ended);
  EXPECT_EQ(report.rounds[1].ended, Instant(seconds(10)));
}

// Regression: the start times of the last ranks overflowed.
TEST(SimulationTest, RanksThatStartAfterTheDeadlineFail) {
  Job job = Puts(16, "aws-standard");
  job.start_spread = seconds(1'000'000'000);
  const Report report = ReportOf(job);
  ASSERT_EQ(report.rounds.size(), 1U);
  EXPECT_EQ(report.requests, 1U);
  EXPECT_EQ(report.rounds[0].ranks_failed, 15U);
  EXPECT_EQ(report.ended, job.deadline);
}

TEST(SimulationTest, UnfinishedRequestsFailAtTheDeadline) {
  Job job = Puts(64);
  job.rank_bytes_per_second = kMiB;  // With eight connections a PUT takes eight seconds.
  job.deadline = seconds(4);
  const Report report = ReportOf(job);
  EXPECT_EQ(report.rounds[0].ranks_failed, 64U);
  EXPECT_FALSE(report.rounds[0].committed);
  EXPECT_EQ(report.ended, Instant(seconds(4)));
}

TEST(SimulationTest, EmptyFileIsOneRequest) {
  Job job = Puts(1);
  job.file_bytes = 0;
  EXPECT_EQ(ReportOf(job).requests, 2U);
}

}  // namespace
}  // namespace penstock::emulator::simulate
