#include "emulator/faults/actions/faulty_body.h"

#include <array>

#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

class TenBytes final : public s3::BodyReader {
 public:
  Result<std::size_t> Read(MutableByteView into) override {
    const std::size_t count = std::min<std::size_t>(into.size(), 10 - read);
    read += count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return 10; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }
  std::size_t read = 0;

 private:
  std::vector<std::pair<std::string, std::string>> trailers_;
};

class FaultyBodyTest : public testing::Test {
 protected:
  void Meet(std::string_view rules) {
    request_.exchange().body = &wire_;
    running_ = RunningScenario::Start(ParseScenario(rules).value(), WallTime()).value();
    plan_ = std::make_shared<FaultPlan>(faults::Meet(*running_, request_));
  }
  // The sizes of all reads; -1 for an error.
  static std::vector<int> ReadAll(s3::BodyReader& body) {
    std::array<std::byte, 100> buffer;
    std::vector<int> sizes;
    for (int i = 0; i < 20; ++i) {
      const auto got = body.Read(buffer);
      sizes.push_back(got.ok() ? static_cast<int>(*got) : -1);
      if (!got.ok() || *got == 0) break;
    }
    return sizes;
  }
  std::uint64_t fired() const { return running_->Account().fired; }

  TestRequest request_{"PUT", "/bucket/key"};
  TenBytes wire_;
  traffic::Pauses pauses_;
  traffic::Pacers pacers_;
  std::shared_ptr<RunningScenario> running_;
  std::shared_ptr<FaultPlan> plan_;
};

TEST_F(FaultyBodyTest, ReadsEndAtActionOffsets) {
  Meet(
      R"([{"do": [{"stall": {"ms": 0}, "at": "body_in@3"}, {"stall": {"ms": 0}, "at": "body_in@7"}]}])");
  FaultyBody body(wire_, request_.exchange(), *plan_, {pauses_, pacers_});
  EXPECT_EQ(ReadAll(body), (std::vector<int>{3, 4, 3, 0}));
  EXPECT_EQ(fired(), 1U);
}

TEST_F(FaultyBodyTest, ErrorEndsTheBodyAtItsOffset) {
  for (const auto& [at, bytes] : std::vector<std::pair<std::string, std::size_t>>{
           {"body_in", 0}, {"body_in@4", 4}, {"body_in@10", 10}}) {
    wire_.read = 0;
    Meet(R"([{"do": {"slow_down": {}, "at": ")" + at + "\"}}]");
    FaultyBody body(wire_, request_.exchange(), *plan_, {pauses_, pacers_});
    EXPECT_EQ(ReadAll(body), std::vector<int>{-1}) << at;
    EXPECT_EQ(wire_.read, bytes) << at;
    EXPECT_EQ(request_.exchange().bytes_in, bytes) << "bytes that are discarded later do not count";
    EXPECT_NE(plan_->replacement(), nullptr);
    EXPECT_FALSE(plan_->carried_out());
  }
}

TEST_F(FaultyBodyTest, PaceReadsPieces) {
  Meet(R"([{"do": {"drip": {"bytes": 4, "every_ms": 1}, "at": "body_in"}}])");
  FaultyBody body(wire_, request_.exchange(), *plan_, {pauses_, pacers_});
  EXPECT_EQ(ReadAll(body), (std::vector<int>{4, 4, 2, 0}));
  EXPECT_EQ(fired(), 1U);
}

TEST_F(FaultyBodyTest, PaceAboveTheLimitIsRejectedAndNotCounted) {
  std::vector<std::unique_ptr<traffic::Pauses::Permit>> others;
  for (int i = 0; i < traffic::Pauses::kMax; ++i)
    others.push_back(std::make_unique<traffic::Pauses::Permit>(pauses_, nullptr));
  for (const char* pace : {R"({"drip": {"bytes": 4, "every_ms": 3600000}, "at": "body_in"})",
                           R"({"bandwidth": {"bytes_per_second": 1}, "at": "body_in"})"}) {
    wire_.read = 0;
    Meet(R"([{"do": )" + std::string(pace) + "}]");
    FaultyBody body(wire_, request_.exchange(), *plan_, {pauses_, pacers_});
    std::array<std::byte, 16> buffer;
    EXPECT_EQ(body.Read(buffer).error().code, "SlowDown") << pace;
    EXPECT_EQ(wire_.read, 0U) << pace;
    EXPECT_EQ(fired(), 0U) << pace;
  }
}

TEST_F(FaultyBodyTest, PaceHoldsItsTurnToTheEnd) {
  std::vector<std::unique_ptr<traffic::Pauses::Permit>> others;
  for (int i = 0; i + 1 < traffic::Pauses::kMax; ++i)
    others.push_back(std::make_unique<traffic::Pauses::Permit>(pauses_, nullptr));
  Meet(R"([{"do": {"drip": {"bytes": 4, "every_ms": 1}, "at": "body_in"}}])");
  {
    FaultyBody body(wire_, request_.exchange(), *plan_, {pauses_, pacers_});
    EXPECT_EQ(ReadAll(body), (std::vector<int>{4, 4, 2, 0}));
    EXPECT_EQ(fired(), 1U);
    EXPECT_FALSE(traffic::Pauses::Permit(pauses_, nullptr).granted());
  }
  EXPECT_TRUE(traffic::Pauses::Permit(pauses_, nullptr).granted());
}

TEST_F(FaultyBodyTest, CommitGateActsAtEndOfBody) {
  Meet(R"([{"do": {"slow_down": {}, "at": "before_commit"}}])");
  CommitGate gate(wire_, request_.exchange(), *plan_, pauses_);
  EXPECT_EQ(ReadAll(gate), (std::vector<int>{10, -1}));
  EXPECT_NE(plan_->replacement(), nullptr);
}

TEST_F(FaultyBodyTest, SkippedPauseDoesNotCount) {
  pauses_.End();
  Meet(R"([{"do": {"stall": {"ms": 1000}, "at": "before_commit"}}])");
  EXPECT_TRUE(PassCommit(request_.exchange(), *plan_, pauses_));
  EXPECT_EQ(fired(), 0U);
}

}  // namespace
}  // namespace penstock::emulator::faults
