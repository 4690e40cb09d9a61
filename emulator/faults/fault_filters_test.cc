// Tests which requests the filters pass on, and when. The effects of actions are tested over the
// network (server/faults_over_the_wire_test.cc).
#include "emulator/faults/fault_filters.h"

#include <array>
#include <chrono>
#include <string>

#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/rules/pattern.h"
#include "emulator/faults/test_support.h"
#include "emulator/s3/core/error_response.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using std::chrono::milliseconds;

FaultRegistry* the_desk = nullptr;
FaultRegistry* TheRegistry(const s3::Exchange&) { return the_desk; }

class Operation final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override {
    ++calls;
    if (const auto running = s3::RefuseIfCancelled(exchange); !running.ok())
      return s3::RespondWithError(exchange, running.error());
    std::array<std::byte, 100> buffer;
    for (;;) {
      const auto got = exchange.body->Read(buffer);
      if (!got.ok()) return s3::RespondWithError(exchange, got.error());
      if (*got == 0) break;
    }
    exchange.response = s3::Response{.status = 204};
    ++commits;
  }
  int calls = 0;
  int commits = 0;
};

class FaultFiltersTest : public testing::Test {
 protected:
  FaultFiltersTest() { the_desk = &registry_; }
  ~FaultFiltersTest() override { the_desk = nullptr; }

  int SendRequest(TestRequest& request) {
    s3::Namespace space;
    space.clock = &SystemClock();
    request.exchange().space = std::make_shared<s3::Namespace>(space);
    const FaultFilterOptions options{
        .registry_of = TheRegistry, .pauses = &pauses_, .memory_limit = memory_limit_};
    const auto operations = MakeDuplicateApply(operation_, memory_limit_);
    s3::FilterChain chain(*operations, MakeFaults(options), MakeCommitFaults(options));
    chain.Handle(request.exchange());
    return request.exchange().response.status;
  }
  int SendRequest(std::vector<std::pair<std::string, std::string>> headers = {},
                  std::string method = "PUT") {
    TestRequest request(std::move(method), "/bucket/key", std::move(headers));
    return SendRequest(request);
  }
  void Set(std::string_view rules) {
    ASSERT_TRUE(registry_.Start(ParseScenario(rules).value()).ok());
  }

  FaultRegistry registry_{SystemClock()};
  traffic::Pauses pauses_;
  const std::shared_ptr<store::MemoryLimit> memory_limit_ =
      std::make_shared<store::MemoryLimit>(1 << 20);
  Operation operation_;
};

TEST_F(FaultFiltersTest, PassesRequestsWithoutRules) {
  EXPECT_EQ(SendRequest(), 204);
  the_desk = nullptr;
  EXPECT_EQ(SendRequest(), 204);
}

TEST_F(FaultFiltersTest, ResponseAtHeadersSkipsTheOperation) {
  Set(R"([{"do": {"slow_down": {}}}])");
  EXPECT_EQ(SendRequest(), 503);
  EXPECT_EQ(operation_.calls, 0);
}

class StoppingServer final : public s3::Wire {
 public:
  void BeginWait() noexcept override {}
  void EndWait() noexcept override {}
  bool PeerHasClosed() const noexcept override { return false; }
  bool IsCancelled() const noexcept override { return *commits > 0; }
  const int* commits = nullptr;
};

TEST_F(FaultFiltersTest, BodiesWithoutRoomInTheMemoryLimitAreNotSentTwice) {
  Set(R"([{"do": {"duplicate_apply": {}}}])");
  for (const auto& [bytes, commits] : {std::pair(1000 << 10, 2), std::pair(1100 << 10, 1)}) {
    operation_.commits = 0;
    TestRequest request("PUT", "/bucket/key");
    request.set_body(std::string(static_cast<std::size_t>(bytes), 'x'));
    EXPECT_EQ(SendRequest(request), 204);
    EXPECT_EQ(operation_.commits, commits);
    EXPECT_EQ(memory_limit_->used_bytes(), 0u);
  }
}

TEST_F(FaultFiltersTest, SecondApplyThatIsCancelledReturnsTheFirstResponse) {
  Set(R"([{"do": {"duplicate_apply": {}}}])");
  StoppingServer wire;
  wire.commits = &operation_.commits;
  TestRequest request("PUT", "/bucket/key");
  request.exchange().wire = &wire;
  EXPECT_EQ(SendRequest(request), 204);
  EXPECT_EQ(operation_.calls, 2);
  EXPECT_EQ(operation_.commits, 1);
}

TEST_F(FaultFiltersTest, ErrorBeforeCommitSkipsOperationsWithoutBody) {
  Set(R"([{"do": {"slow_down": {}, "at": "before_commit"}}])");
  EXPECT_EQ(SendRequest(), 503);
  EXPECT_EQ(SendRequest({{"content-length", "0"}}), 503);
  EXPECT_EQ(SendRequest({{"content-length", "5"}}, "GET"), 503);
  EXPECT_EQ(operation_.calls, 0);
  EXPECT_EQ(SendRequest({{"content-length", "5"}}), 503);
  EXPECT_EQ(operation_.calls, 1) << "the operation reads its body first";
  EXPECT_EQ(operation_.commits, 0);
}

TEST_F(FaultFiltersTest, ErrorAfterCommitRunsTheOperation) {
  Set(R"([{"do": {"slow_down": {}, "at": "after_commit"}}])");
  EXPECT_EQ(SendRequest(), 503);
  EXPECT_EQ(operation_.commits, 1);
}

TEST_F(FaultFiltersTest, RetryTestRequiresARegistry) {
  EXPECT_EQ(SendRequest({{"X-Penstock-Retry-Test", "id"}}), 400);
  the_desk = nullptr;
  EXPECT_EQ(SendRequest({{"X-Penstock-Retry-Test", "id"}}), 400);
}

TEST_F(FaultFiltersTest, RetryTestReplacesTheScenarioAndFollowsTheRulesOfTheHeader) {
  Set(R"([{"do": {"slow_down": {}}}])");
  ASSERT_TRUE(
      registry_.AddRetryTest("id", ParseRetryTest(R"({"GetObject": ["reset"]})").value()).ok());
  EXPECT_EQ(SendRequest({{"x-penstock-retry-test", "id"}}), 204);
  EXPECT_EQ(registry_.Account()->requests, 0U) << "the scenario does not count it";
  EXPECT_EQ(SendRequest({{"x-penstock-retry-test", "id"},
                         {"x-penstock-fault", R"({"error": {"status": 501}, "at": "headers"})"}}),
            501);
  EXPECT_EQ(SendRequest(), 503);
  EXPECT_EQ(SendRequest({{"x-penstock-retry-test", R"({"scenario": "hot-prefix"})"}}), 400)
      << "it takes an id";
}

TEST_F(FaultFiltersTest, HeaderAcceptsNamedScenarios) {
  EXPECT_EQ(SendRequest({{"x-penstock-fault", R"({"scenario": "one-rank-throttled"})"}}), 204);
  EXPECT_EQ(SendRequest({{"x-penstock-fault", R"({"scenario": "meteor"})"}}), 400);
}

TEST_F(FaultFiltersTest, RulesOfTheHeaderAreChargedWhileTheirRequestLasts) {
  const auto rules = [](int count) {
    std::string json = "[";
    for (int i = 0; i < count; ++i) {
      json += i > 0 ? "," : "";
      json += R"({"when": {"key": {"regex": "^k"}}, "do": {"stall": {"ms": 0}}, "id": ")" +
              std::to_string(i) + "\"}";
    }
    return json + "]";
  };
  {
    TestRequest request("PUT", "/bucket/key", {{"x-penstock-fault", rules(2)}});
    EXPECT_EQ(SendRequest(request), 204);
    EXPECT_GT(memory_limit_->used_bytes(), 2U * Pattern::kMaxRegexBytes);
  }
  EXPECT_EQ(memory_limit_->used_bytes(), 0U);
  TestRequest request("PUT", "/bucket/key", {{"x-penstock-fault", rules(5)}});
  EXPECT_EQ(SendRequest(request), 507);
  EXPECT_EQ(request.exchange().response.error_code, "InsufficientStorage");
  EXPECT_EQ(memory_limit_->used_bytes(), 0U);
}

TEST_F(FaultFiltersTest, ResponseBytesCountForAfterBytes) {
  Set(R"([{"do": {"slow_down": {}}, "when": {"after": {"bytes": 10}}}])");
  EXPECT_EQ(SendRequest({{"content-length", "6"}}, "PUT"), 204);
  EXPECT_EQ(SendRequest({{"content-length", "6"}}, "PUT"), 204);
  EXPECT_EQ(SendRequest(), 503);
}

TEST_F(FaultFiltersTest, ClockSkewAppliesToOneRequest) {
  Set(R"([{"do": {"clock_skew": {"ahead_s": 90}}, "limit": {"times": 1}}])");
  TestRequest first("PUT", "/bucket/key");
  SendRequest(first);
  EXPECT_EQ(first.exchange().clock_ahead, std::chrono::seconds(90));
  TestRequest second("PUT", "/bucket/key");
  SendRequest(second);
  EXPECT_EQ(second.exchange().clock_ahead, std::chrono::seconds(0));
}

// Responds with 418 to every request.
class TeapotHandler final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override { exchange.response.status = 418; }
};

// The exchange of a request that passed the filter.
struct DelayedExchange {
  DelayedExchange(milliseconds delay, const std::string& method) {
    head.method = method;
    s3::FilterChain(next, MakeFirstByteDelay(delay)).Handle(exchange);
  }
  const s3::Delivery* delivery() const { return exchange.response.delivery.get(); }
  TeapotHandler next;
  s3::RequestHead head;
  s3::Connection connection;
  s3::Exchange exchange{head, connection};
};

TEST(FirstByteDelayTest, DelaysTheHeadOfResponsesToReads) {
  for (const char* method : {"GET", "HEAD"}) {
    const DelayedExchange delayed(milliseconds(30), method);
    ASSERT_NE(delayed.delivery(), nullptr);
    ASSERT_EQ(delayed.delivery()->steps.size(), 1u);
    EXPECT_EQ(delayed.delivery()->steps[0].place, s3::DeliveryStep::Place::kHead);
    EXPECT_EQ(delayed.delivery()->steps[0].kind, s3::DeliveryStep::Kind::kWait);
    EXPECT_EQ(delayed.delivery()->steps[0].wait, milliseconds(30));
    EXPECT_EQ(delayed.exchange.response.status, 418);
  }
}

TEST(FirstByteDelayTest, DoesNotDelayWrites) {
  EXPECT_EQ(DelayedExchange(std::chrono::hours(1), "PUT").delivery(), nullptr);
}

TEST(FirstByteDelayTest, ZeroDoesNotDelay) {
  EXPECT_EQ(DelayedExchange(milliseconds(0), "GET").delivery(), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::faults
