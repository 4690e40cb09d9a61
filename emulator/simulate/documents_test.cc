#include "emulator/simulate/documents.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "penstock/simulate.h"

namespace penstock::emulator::simulate {
namespace {

TEST(DocumentsTest, EmptyObjectIsTheDefaultJob) {
  const Job job = ParseJob("{}").value();
  EXPECT_EQ(job.ranks, 8U);
  EXPECT_EQ(job.limits, traffic::PresetLimits("aws-standard").value());
  EXPECT_EQ(job.latency.name, "s3-standard");
  EXPECT_EQ(job.client.name, "standard");
  EXPECT_EQ(job.path, "checkpoint/step_{round}");
  EXPECT_EQ(ParseJob(R"({"strategy": "hex"})").value().path, "checkpoint");
}

TEST(DocumentsTest, ReadsEveryMember) {
  const Job job =
      ParseJob(
          R"({"operation": "load", "ranks": 3, "files_per_rank": 4, "file_bytes": 500, "part_bytes": 100,
    "connections_per_rank": 2, "rounds": 6, "round_every_s": 1.5, "start_spread_s": 0.25, "path": "p", "strategy": "round-robin",
    "epoch": 7, "min_prefix_length": 3, "prefix_count": 9, "prefixes": ["a", "b"], "limits": "aws-strict", "reads_per_second": 11,
    "writes_per_second": 12, "burst_ms": 130, "split_after_s": 14, "merge_after_s": 15, "max_partitions": 16, "warm_partitions": 5,
    "latency": "s3-express", "client": "crt", "rank_bytes_per_second": 17, "seed": 18, "deadline_s": 19})")
          .value();
  EXPECT_EQ(job.operation, Operation::kLoad);
  EXPECT_EQ(job.ranks, 3U);
  EXPECT_EQ(job.files_per_rank, 4U);
  EXPECT_EQ(job.file_bytes, 500U);
  EXPECT_EQ(job.part_bytes, 100U);
  EXPECT_EQ(job.connections_per_rank, 2U);
  EXPECT_EQ(job.rounds, 6U);
  EXPECT_EQ(job.round_every, std::chrono::milliseconds(1'500));
  EXPECT_EQ(job.start_spread, std::chrono::milliseconds(250));
  EXPECT_EQ(job.path, "p");
  EXPECT_EQ(job.naming.strategy, Strategy::kRoundRobin);
  EXPECT_EQ(job.naming.epoch, 7);
  EXPECT_EQ(job.naming.min_prefix_length, 3U);
  EXPECT_EQ(job.naming.prefix_count, 9U);
  EXPECT_EQ(job.naming.user_prefixes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(job.limits, (traffic::Limits{.reads_per_second = 11,
                                         .writes_per_second = 12,
                                         .burst = std::chrono::milliseconds(130),
                                         .split_after = std::chrono::seconds(14),
                                         .merge_after = std::chrono::seconds(15),
                                         .max_partitions = 16}));
  EXPECT_EQ(job.warm_partitions, 5U);
  EXPECT_EQ(job.latency.name, "s3-express");
  EXPECT_EQ(job.client.name, "crt");
  EXPECT_EQ(job.rank_bytes_per_second, 17U);
  EXPECT_EQ(job.seed, 18U);
  EXPECT_EQ(job.deadline, std::chrono::seconds(19));
}

TEST(DocumentsTest, ErrorsNameTheMember) {
  const auto message = [](std::string_view json) { return ParseJob(json).error().message; };
  EXPECT_EQ(
      message(R"({"client": "curl"})"),
      "client: unknown client 'curl': expected one of legacy, standard, adaptive, crt, penstock");
  EXPECT_EQ(message(R"({"ranks": -1})"), "ranks: must be a non-negative integer, not -1");
  EXPECT_EQ(message(R"({"ranks": 5000000000})"),
            "ranks: must be at most 4294967295, not 5000000000");
  EXPECT_EQ(message(R"({"round_every_s": -1})"),
            "round_every_s: must be 0 to 1000000000 seconds, not -1");
  EXPECT_EQ(message(R"({"prefixes": [1]})"), "prefixes: must be a list of strings");
  EXPECT_EQ(message(R"({"ranks": 0})"), "ranks must be 1 to 65536, not 0");
  EXPECT_NE(message(R"({"rank": 1})").find("rank"), std::string::npos);
  EXPECT_EQ(message(R"({"max_partitions": 4294967296})"),
            "max_partitions: must be at most 65536, not 4294967296");
  // Regression: this seed was rounded to 9007199254740992.
  EXPECT_EQ(message(R"({"seed": 9007199254740993})"),
            "seed: must be at most 9007199254740991, not 9007199254740993");
  EXPECT_EQ(ParseJob(R"({"seed": 9007199254740991})").value().seed, 9'007'199'254'740'991U);
}

TEST(DocumentsTest, ReportHasEveryMember) {
  const auto report = nlohmann::json::parse(
      SimulateJson(
          R"({"ranks": 64, "file_bytes": 1, "limits": "aws-strict", "client": "crt", "strategy": "hex"})")
          .value());
  EXPECT_EQ(report["ranks"], 64);
  EXPECT_EQ(report["strategy"], "hex");
  EXPECT_EQ(report["requests"], report["refused"].get<int>() + 65);
  ASSERT_EQ(report["rounds"].size(), 1U);
  EXPECT_EQ(report["rounds"][0]["completed"], true);
  EXPECT_GT(report["rounds"][0]["lasted_s"].get<double>(), 0.5);
  int sum = 0;
  for (const auto& interval : report["intervals"]) sum += interval["requests"].get<int>();
  EXPECT_EQ(sum, report["requests"].get<int>());
  EXPECT_EQ(report["partitions"][0]["begin"], "");
}

TEST(DocumentsTest, ReturnsErrorsOfTheJob) { EXPECT_FALSE(SimulateJson("[").ok()); }

}  // namespace
}  // namespace penstock::emulator::simulate
