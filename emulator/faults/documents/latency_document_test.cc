#include "emulator/faults/documents/latency_document.h"

#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

LatencyAction Read(std::string_view json) {
  return std::get<LatencyAction>(ReadLatency(ParseJson(json).value(), "latency").value());
}
std::string Problem(std::string_view json) {
  return ReadLatency(ParseJson(json).value(), "latency").error().message;
}

TEST(LatencyDocumentTest, ReadsATimeARangeOrADistribution) {
  EXPECT_EQ(Read(R"({"ms": 30})").floor_ms, 30);
  EXPECT_EQ(Read(R"({"least_ms": 10, "most_ms": 50})").most_ms, 50);
  EXPECT_EQ(Read(R"({"least_ms": 10, "most_ms": 10})").floor_ms, 10);
  const LatencyAction spread = Read(R"({"floor_ms": 12, "median_ms": 18, "sigma": 0.5})");
  EXPECT_EQ(spread.floor_ms, 12);
  EXPECT_EQ(spread.median_ms, 18);
  EXPECT_EQ(spread.sigma, 0.5);
}

TEST(LatencyDocumentTest, ErrorsNameValidValues) {
  EXPECT_EQ(Problem("{}"),
            "latency: has no delay: set ms, least_ms and most_ms, median_ms and sigma, profile, or "
            "trace_ms");
  EXPECT_EQ(Problem(R"({"ms": 3600001})"), "latency.ms: must be 0 to 3600000, not 3600001");
  EXPECT_EQ(
      Problem(R"({"least_ms": 50})"),
      "latency.most_ms: is missing: a range needs least_ms and most_ms; for a fixed time use ms");
  EXPECT_EQ(Problem(R"({"most_ms": 50})").substr(0, 28), "latency.least_ms: is missing");
  EXPECT_EQ(Problem(R"({"ms": 5, "sigma": 1})").substr(0, 29), "latency.median_ms: is missing");
  EXPECT_EQ(Problem(R"({"least_ms": 50, "most_ms": 10})"),
            "latency.most_ms: must not be less than least_ms");
  EXPECT_EQ(Problem(R"({"median_ms": 5, "sigma": 4})"), "latency.sigma: must be 0 to 3, not 4");
}

TEST(LatencyDocumentTest, ProfileExcludesOtherMembers) {
  EXPECT_EQ(Read(R"({"profile": "s3-express"})").profile, "s3-express");
  EXPECT_NE(Problem(R"({"profile": "fast"})").find("s3-standard"), std::string::npos);
  EXPECT_EQ(Problem(R"({"profile": "s3-express", "ms": 3})"),
            "latency: `profile` excludes all other members: remove them");
}

TEST(LatencyDocumentTest, ReadsATrace) {
  EXPECT_EQ(Read(R"({"trace_ms": [12, 0.5]})").trace_ms, (std::vector<double>{12, 0.5}));
  EXPECT_EQ(Problem(R"({"trace_ms": []})"), "latency.trace_ms: must have 1 to 10000 values, not 0");
  EXPECT_EQ(Problem(R"({"trace_ms": [1, -2]})"),
            "latency.trace_ms[1]: must be 0 to 3600000 milliseconds, not -2");
  EXPECT_EQ(Problem(R"({"trace_ms": [1], "ms": 3})"),
            "latency: `trace_ms` excludes all other members: remove them");
}

}  // namespace
}  // namespace penstock::emulator::faults
