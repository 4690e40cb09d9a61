#include "emulator/faults/actions/response_shaping.h"

#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::milliseconds;
using Place = s3::DeliveryStep::Place;

class ResponseShapingTest : public testing::Test {
 protected:
  // Shapes the response "0123456789" with the one rule.
  void Shape(const std::string& action, int minor_version = 1) {
    request_.emplace("GET", "/bucket/key", Headers{{"user-agent", "test"}});
    request_->exchange().request.minor_version = minor_version;
    request_->connection().id = connection_;
    running_ =
        RunningScenario::Start(ParseScenario("[{\"do\": " + action + "}]").value(), WallTime())
            .value();
    plan_ = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
    plan_->Begin();
    response().body = std::string("0123456789");
    ShapeResponse(request_->exchange(), plan_, pacers_);
  }
  using Headers = std::vector<std::pair<std::string, std::string>>;
  s3::Response& response() { return request_->exchange().response; }
  const std::vector<s3::DeliveryStep>& steps() { return response().delivery->steps; }
  std::uint64_t fired() const { return running_->Account().fired; }

  std::optional<TestRequest> request_;
  std::uint64_t connection_ = 1;
  std::shared_ptr<RunningScenario> running_;
  std::shared_ptr<FaultPlan> plan_;
  traffic::Pacers pacers_;
};

TEST_F(ResponseShapingTest, PauseCountsWhenItBegins) {
  Shape(R"({"stall": {"ms": 5}, "at": "body_out@3"})");
  ASSERT_EQ(steps().size(), 2U);
  EXPECT_EQ(steps()[0].wait.count(), 0);
  EXPECT_EQ(steps()[1].wait, milliseconds(5));
  EXPECT_EQ(steps()[1].offset, 3U);
  EXPECT_EQ(fired(), 0U);
  steps()[0].done();
  EXPECT_EQ(fired(), 1U);
}

TEST_F(ResponseShapingTest, ActionsThatNeedChunksDoNotHappenOverHttp10) {
  for (const char* action : {R"({"truncate": {"mode": "no-terminator"}, "at": "body_out@3"})",
                             R"({"header_lie": {"drop": ["Content-Length"]}})"}) {
    Shape(action, 0);
    EXPECT_FALSE(response().chunked) << action;
    EXPECT_TRUE(response().delivery == nullptr || steps().empty()) << action;
    EXPECT_EQ(fired(), 0U) << action;
  }
}

TEST_F(ResponseShapingTest, SendsPieceOnceTheRateAllowsAllOfIt) {
  const MonotonicTime now{std::chrono::hours(1)};
  for (const char* scope : {"connection", "client", "bucket", "server"}) {
    const std::string action =
        R"({"bandwidth": {"bytes_per_second": 1000, "scope": ")" + std::string(scope) + "\"}}";
    Shape(action);
    EXPECT_EQ(response().delivery->piece, 20U);
    EXPECT_EQ(response().delivery->pace(20, now), now + milliseconds(20));
    Shape(action);
    EXPECT_EQ(response().delivery->pace(20, now), now + milliseconds(40))
        << scope << ": another request shares the rate";
  }
  Shape(R"({"bandwidth": {"bytes_per_second": 1000}})");
  EXPECT_EQ(response().delivery->pace(20, now), now + milliseconds(20))
      << "requests do not share a rate of scope request";
}

TEST_F(ResponseShapingTest, ConnectionsHaveSeparateRates) {
  const MonotonicTime now{std::chrono::hours(1)};
  const std::string action = R"({"bandwidth": {"bytes_per_second": 1000, "scope": "connection"}})";
  Shape(action);
  EXPECT_EQ(response().delivery->pace(20, now), now + milliseconds(20));
  connection_ = 2;
  Shape(action);
  EXPECT_EQ(response().delivery->pace(20, now), now + milliseconds(20));
}

TEST_F(ResponseShapingTest, DripSendsPiecesAtIntervals) {
  Shape(R"({"drip": {"bytes": 1, "every_ms": 300}})");
  EXPECT_EQ(response().delivery->piece, 1U);
  EXPECT_EQ(response().delivery->piece_every, milliseconds(300));
}

TEST_F(ResponseShapingTest, ResponseWithoutBodyIsNotPaced) {
  for (const char* const action :
       {R"({"drip": {"bytes": 1, "every_ms": 300}})",
        R"({"bandwidth": {"bytes_per_second": 1000, "scope": "server"}})"}) {
    for (const char* const method : {"HEAD", "PUT"}) {
      request_.emplace(method, "/bucket/key");
      running_ =
          RunningScenario::Start(
              ParseScenario("[{\"limit\": {\"times\": 1}, \"do\": " + std::string(action) + "}]")
                  .value(),
              WallTime())
              .value();
      auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
      plan->Begin();
      response().content_length = 10;  // As for HEAD.
      ShapeResponse(request_->exchange(), plan, pacers_);
      EXPECT_FALSE(response().delivery) << action;
      plan.reset();
      EXPECT_EQ(faults::Meet(*running_, *request_).size(), 1U)
          << "another request may have the claim: " << action;
    }
  }
}

TEST_F(ResponseShapingTest, ContentLengthLieNeedsContentLength) {
  for (const int status : {204, 304}) {
    for (const char* const lie :
         {R"("set": {"Content-Length": "3"})", R"("drop": ["Content-Length"])"}) {
      request_.emplace("DELETE", "/bucket/key");
      running_ =
          RunningScenario::Start(
              ParseScenario("[{\"do\": {\"header_lie\": {" + std::string(lie) + "}}}]").value(),
              WallTime())
              .value();
      const auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
      plan->Begin();
      response().status = status;
      ShapeResponse(request_->exchange(), plan, pacers_);
      EXPECT_EQ(fired(), 0U) << status << ' ' << lie;
    }
  }
}

TEST_F(ResponseShapingTest, BodyShorterThanOffsetSkipsAction) {
  Shape(R"({"truncate": {}, "at": "body_out@10"})");
  EXPECT_EQ(fired(), 0U);
  EXPECT_FALSE(response().delivery);
  Shape(R"({"corrupt": {}, "at": "body_out@10"})");
  EXPECT_FALSE(response().delivery);
}

TEST_F(ResponseShapingTest, SkippedOperationLosesNoAcknowledgement) {
  request_.emplace("GET", "/bucket/key");
  running_ =
      RunningScenario::Start(
          ParseScenario(R"([{"do": {"slow_down": {}, "at": "after_commit"}}])").value(), WallTime())
          .value();
  const auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
  response().status = 403;
  ShapeResponse(request_->exchange(), plan, pacers_);
  EXPECT_EQ(response().status, 403);
  EXPECT_EQ(fired(), 0U);
}

TEST_F(ResponseShapingTest, ErrorResponseLosesNoAcknowledgement) {
  for (const char* action :
       {R"("reset": {})", R"("fin": {})", R"("half_close": {})", R"("black_hole": {})",
        R"("error": {})", R"("slow_down": {})", R"("late_error": {})", R"("redirect": {})"}) {
    for (const auto& [status, code] :
         std::vector<std::pair<int, std::string>>{{404, "NoSuchKey"}, {412, ""}, {304, ""}}) {
      request_.emplace("GET", "/bucket/key");
      running_ =
          RunningScenario::Start(ParseScenario("[{\"limit\": {\"times\": 1}, \"do\": {" +
                                               std::string(action) + R"(, "at": "after_commit"}}])")
                                     .value(),
                                 WallTime())
              .value();
      auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
      plan->Begin();
      response().status = status;
      response().error_code = code;
      ShapeResponse(request_->exchange(), plan, pacers_);
      EXPECT_EQ(response().status, status) << action;
      EXPECT_FALSE(response().delivery) << action;
      plan.reset();
      EXPECT_EQ(running_->Account().fired, 0U);
      EXPECT_EQ(faults::Meet(*running_, *request_).size(), 1U)
          << "another request may have the claim: " << action;
    }
  }
}

TEST_F(ResponseShapingTest, PausesAndHeaderLiesApplyToErrors) {
  request_.emplace("GET", "/bucket/key");
  running_ = RunningScenario::Start(
                 ParseScenario(
                     R"([{"do": [{"latency": {"ms": 30}}, {"header_lie": {"set": {"a": "b"}}}]}])")
                     .value(),
                 WallTime())
                 .value();
  const auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
  plan->Begin();
  response().status = 404;
  ShapeResponse(request_->exchange(), plan, pacers_);
  EXPECT_EQ(response().Find("a"), "b");
  EXPECT_EQ(steps().back().wait, milliseconds(30));
}

TEST_F(ResponseShapingTest, AttemptCountsAsFailedDuringAPause) {
  request_.emplace(
      "GET", "/bucket/key",
      std::vector<std::pair<std::string, std::string>>{{"amz-sdk-invocation-id", "i"}});
  running_ = RunningScenario::Start(
                 ParseScenario(R"([{"do": {"latency": {"ms": 30}}, "when": {"unless_failed": 1}}])")
                     .value(),
                 WallTime())
                 .value();
  const auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
  plan->Begin();
  ShapeResponse(request_->exchange(), plan, pacers_);
  ASSERT_EQ(steps().size(), 3U);
  const auto meets = [this] { return faults::Meet(*running_, *request_).size(); };
  EXPECT_EQ(meets(), 1U);
  steps()[0].done();
  EXPECT_EQ(meets(), 0U);
  steps()[2].done();
  EXPECT_EQ(meets(), 1U);
}

TEST_F(ResponseShapingTest, ClockSkewFailsTheRejectedAttempt) {
  for (const char* code : {"", "RequestTimeTooSkewed"}) {
    request_.emplace(
        "GET", "/bucket/key",
        std::vector<std::pair<std::string, std::string>>{{"amz-sdk-invocation-id", "i"}});
    running_ =
        RunningScenario::Start(
            ParseScenario(
                R"([{"do": {"clock_skew": {"ahead_s": 3600}}, "when": {"unless_failed": 1}}])")
                .value(),
            WallTime())
            .value();
    const auto plan = std::make_shared<FaultPlan>(faults::Meet(*running_, *request_));
    FaultPlan::Done(plan->steps()[0]);
    response().error_code = code;
    ShapeResponse(request_->exchange(), plan, pacers_);
    EXPECT_EQ(faults::Meet(*running_, *request_).size(), *code == 0 ? 1U : 0U) << code;
  }
}

TEST_F(ResponseShapingTest, UnchangedResponseDoesNotCount) {
  for (const char* lie : {R"("repeat": ["Content-Range"])", R"("drop": ["Content-Range"])",
                          R"("set": {"Content-Length": "10"})"}) {
    Shape(R"({"header_lie": {)" + std::string(lie) + "}}");
    EXPECT_EQ(fired(), 0U) << lie;
  }
  for (const char* lie :
       {R"("repeat": ["Content-Range"], "set": {"a": "b"})", R"("drop": ["Date"])",
        R"("drop": ["Content-Length"])", R"("set": {"Content-Length": "9"})"}) {
    Shape(R"({"header_lie": {)" + std::string(lie) + "}}");
    EXPECT_EQ(fired(), 1U) << lie;
  }
}

TEST_F(ResponseShapingTest, LatencyFollowsItsParameters) {
  const auto time = [&](const char* action) {
    Shape(action);
    return steps().back().wait;
  };
  EXPECT_EQ(time(R"({"latency": {"ms": 30}})"), milliseconds(30));
  for (int i = 0; i < 20; ++i) {
    const auto uniform = time(R"({"latency": {"min_ms": 10, "max_ms": 50}})");
    EXPECT_GE(uniform, milliseconds(10));
    EXPECT_LT(uniform, milliseconds(50));
    EXPECT_GT(time(R"({"latency": {"floor_ms": 12, "median_ms": 18, "sigma": 0.5}})"),
              milliseconds(12));
    EXPECT_GT(time(R"({"latency": {"profile": "s3-standard"}})"), milliseconds(1));
  }
}

TEST_F(ResponseShapingTest, TraceIsUsedInOrderAndRepeated) {
  running_ = RunningScenario::Start(
                 ParseScenario(R"([{"do": {"latency": {"trace_ms": [12, 340, 0.5]}}}])").value(),
                 WallTime())
                 .value();
  const TestRequest request("GET", "/bucket/key");
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto met = faults::Meet(*running_, request);
    const auto& latency = std::get<LatencyAction>(met.front()->rule().actions.front().action);
    times.push_back(
        static_cast<double>(LatencyOf(latency, request.exchange(), *met.front()).count()) / 1e6);
  }
  EXPECT_EQ(times, (std::vector<double>{12, 340, 0.5, 12, 340}));
}

}  // namespace
}  // namespace penstock::emulator::faults
