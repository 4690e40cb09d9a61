#include "emulator/traffic/throttle_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/fake_clock.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/post/form.h"
#include "emulator/traffic/pacer.h"

namespace penstock::emulator::traffic {
namespace {

using std::chrono::milliseconds;

class ZerosBody final : public s3::BodyReader {
 public:
  Result<std::size_t> Read(MutableByteView into) override {
    ++reads;
    const std::size_t count = std::min(into.size(), left);
    left -= count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return 5; }
  std::size_t left = 0;
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return none_;
  }
  int reads = 0;

 private:
  std::vector<std::pair<std::string, std::string>> none_;
};

class Teapot final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override {
    ++cost;
    if (reads) {
      std::array<std::byte, 4'096> buffer;
      while (exchange.body->Read(buffer).value() > 0) continue;
    }
    exchange.response.status = status;
  }
  int cost = 0;
  int status = 200;
  bool reads = false;  // Whether it reads the body to its end.
};

// A request and its exchange in a namespace.
struct Request {
  Request(std::string request_method, std::string request_target,
          const std::shared_ptr<s3::Namespace>& space)
      : method(std::move(request_method)), target(std::move(request_target)) {
    head.method = method;
    head.target = target;
    exchange.target =
        s3::ParseTarget(target, "localhost", s3::HostRules::Default("us-east-1")).value();
    exchange.operation = s3::OperationName(head, exchange.target);
    exchange.space = space;
    exchange.body = &body;
    exchange.request_id = "0123456789ABCDEF";
  }
  const std::string method;
  const std::string target;
  s3::RequestHead head;
  s3::Connection connection{.id = 7, .peer = {}};
  ZerosBody body;
  s3::Exchange exchange{head, connection};
};

class ThrottleFilterTest : public testing::Test {
 protected:
  ThrottleFilterTest() { space_->clock = &clock_; }
  void Set(std::string_view text) { limiter_.Set(ParseThrottleSettings(text).value()); }
  std::unique_ptr<Request> SendRequest(const std::string& method, const std::string& target) {
    auto request = std::make_unique<Request>(method, target, space_);
    chain_.Handle(request->exchange);
    return request;
  }
  FakeClock clock_;
  RateLimiter limiter_{clock_};
  std::shared_ptr<s3::Namespace> space_ = std::make_shared<s3::Namespace>();
  Teapot next_;
  Pauses pauses_;
  s3::FilterChain chain_{next_,
                         MakeThrottle([this](const s3::Exchange&) { return &limiter_; }, pauses_)};
};

TEST_F(ThrottleFilterTest, RejectsLikeS3) {
  Set(R"({"writes_per_second": 1})");
  EXPECT_EQ(SendRequest("PUT", "/b/k")->exchange.response.status, 200);
  const auto refused = SendRequest("PUT", "/b/k");
  const s3::Response& response = refused->exchange.response;
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.reason, "Slow Down");
  EXPECT_EQ(response.error_code, "SlowDown");
  EXPECT_TRUE(response.close);
  EXPECT_TRUE(response.chunked);
  EXPECT_FALSE(response.Find("x-amz-retry-after"));
  EXPECT_NE(std::get<std::string>(response.body)
                .find("<Code>SlowDown</Code><Message>Please reduce your request rate.</Message>"),
            std::string::npos);
  EXPECT_EQ(refused->body.reads, 0);
  EXPECT_EQ(next_.cost, 1);
}

TEST_F(ThrottleFilterTest, SendsRetryAfterIfConfigured) {
  Set(R"({"writes_per_second": 1, "retry_after_ms": 250})");
  EXPECT_FALSE(SendRequest("PUT", "/b/k")->exchange.response.Find("x-amz-retry-after"));
  EXPECT_EQ(SendRequest("PUT", "/b/k")->exchange.response.Find("x-amz-retry-after"), "250");
}

TEST_F(ThrottleFilterTest, PassesRequestsWithoutSettings) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(SendRequest("PUT", "/b/k")->exchange.response.delivery, nullptr);
  EXPECT_EQ(next_.cost, 3);
  auto lost = std::make_unique<Request>("GET", "/b/k", nullptr);
  chain_.Handle(lost->exchange);
  EXPECT_EQ(next_.cost, 4) << "a request without a namespace has no limiter";
}

TEST_F(ThrottleFilterTest, CountsReadsAndWritesSeparately) {
  Set(R"({"reads_per_second": 1, "writes_per_second": 1})");
  EXPECT_EQ(SendRequest("PUT", "/b/k")->exchange.response.status, 200);
  EXPECT_EQ(SendRequest("GET", "/b/k")->exchange.response.status, 200);
  EXPECT_EQ(SendRequest("HEAD", "/b/k")->exchange.response.status, 503);
  EXPECT_EQ(SendRequest("DELETE", "/b/k")->exchange.response.status, 503);
}

TEST_F(ThrottleFilterTest, ClassifiesOperations) {
  const auto cost = [&](const std::string& method, const std::string& target) -> std::string {
    const Request request(method, target, space_);
    const std::optional<RequestCost> what = CostOf(request.exchange);
    if (!what) return "nothing";
    return (what->traffic == Traffic::kRead ? "read " : "write ") + std::string(what->key);
  };
  EXPECT_EQ(cost("GET", "/b/a/k"), "read a/k");
  EXPECT_EQ(cost("HEAD", "/b/a/k"), "read a/k");
  EXPECT_EQ(cost("GET", "/b/a/k?uploadId=1"), "read a/k");
  EXPECT_EQ(cost("PUT", "/b/a/k?partNumber=1&uploadId=1"), "write a/k");
  EXPECT_EQ(cost("POST", "/b/a/k?uploads"), "write a/k");
  EXPECT_EQ(cost("DELETE", "/b/a/k"), "write a/k");
  EXPECT_EQ(cost("GET", "/b?list-type=2&prefix=a/"), "read a/");
  EXPECT_EQ(cost("GET", "/b?prefix=a/"), "read a/");
  EXPECT_EQ(cost("GET", "/b?versions&prefix=a/"), "read a/");
  EXPECT_EQ(cost("GET", "/b?uploads&prefix=a/"), "read a/");
  EXPECT_EQ(cost("POST", "/b?delete"), "write ");
  EXPECT_EQ(cost("GET", "/b?policy"), "nothing");
  EXPECT_EQ(cost("PUT", "/b"), "nothing");
  EXPECT_EQ(cost("HEAD", "/b"), "nothing");
  EXPECT_EQ(cost("OPTIONS", "/b/k"), "nothing");
  EXPECT_EQ(cost("GET", "/"), "nothing");
}

TEST_F(ThrottleFilterTest, PostFormCountsForItsKey) {
  Request request("POST", "/b", space_);
  s3::Form form;
  form.fields.push_back({"Key", "a/k"});
  request.exchange.form = &form;
  ASSERT_EQ(request.exchange.operation, "PostObject");
  EXPECT_EQ(CostOf(request.exchange)->key, "a/k");
}

TEST_F(ThrottleFilterTest, ResponsesFollowTheLatencyProfile) {
  Set(R"({"latency": {"first_byte_ms": 30, "bytes_per_second": 90000000}})");
  const auto request = SendRequest("GET", "/b/k");
  ASSERT_NE(request->exchange.response.delivery, nullptr);
  EXPECT_EQ(request->exchange.response.delivery->piece, 1u << 20);
  const MonotonicTime now{std::chrono::hours(1)};
  EXPECT_EQ(request->exchange.response.delivery->pace(900'000, now), now + milliseconds(10));
  EXPECT_EQ(request->exchange.response.delivery->steps.at(0).wait, milliseconds(30));
}

TEST_F(ThrottleFilterTest, RequestBodiesFollowTheConnectionRate) {
  Set(R"({"latency": {"bytes_per_second": 100000}})");
  next_.reads = true;
  Request request("PUT", "/b/k", space_);
  request.body.left = 4'000;
  const auto began = std::chrono::steady_clock::now();
  chain_.Handle(request.exchange);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(40));
  EXPECT_EQ(request.body.left, 0U);
  EXPECT_EQ(request.exchange.body, &request.body) << "the original body is restored";
}

TEST_F(ThrottleFilterTest, KeepsDeliveryStepsOfFaults) {
  Set(R"({"latency": {"first_byte_ms": 30, "bytes_per_second": 90000000}})");
  Request request("GET", "/b/k", space_);
  PaceResponse(request.exchange.response.Delivering(), std::make_shared<Pacer>(1'000));
  request.exchange.response.Delivering().steps.push_back({.kind = s3::DeliveryStep::Kind::kReset});
  chain_.Handle(request.exchange);
  EXPECT_EQ(request.exchange.response.delivery->piece, 20u);
  const MonotonicTime now{std::chrono::hours(1)};
  EXPECT_EQ(request.exchange.response.delivery->pace(20, now), now + milliseconds(20));
  EXPECT_EQ(request.exchange.response.delivery->steps.at(1).kind, s3::DeliveryStep::Kind::kReset);
}

TEST_F(ThrottleFilterTest, DrawDependsOnRequestAndArrivalCount) {
  const auto waits = [&] {
    Set(R"({"latency": "s3-standard", "seed": 3})");
    std::vector<std::chrono::nanoseconds> all;
    for (const char* key : {"/b/k", "/b/j", "/b/k"})
      all.push_back(SendRequest("GET", key)->exchange.response.delivery->steps.at(0).wait);
    return all;
  };
  const auto first = waits();
  EXPECT_EQ(waits(), first);
  EXPECT_NE(first[0], first[2]);
  for (const auto wait : first) EXPECT_GE(wait, milliseconds(12));
}

TEST_F(ThrottleFilterTest, NotModifiedHasTheLatencyOfHead) {
  Set(R"({"latency": "s3-standard"})");
  next_.status = 304;
  int quick = 0;
  for (int i = 0; i < 50; ++i)
    quick +=
        SendRequest("GET", "/b/k")->exchange.response.delivery->steps.at(0).wait < milliseconds(12)
            ? 1
            : 0;
  EXPECT_GT(quick, 25) << "GET takes at least 12 ms, most HEAD requests take less";
}

TEST_F(ThrottleFilterTest, RejectionsAreDelayedIfLatencyIsSimulated) {
  Set(R"({"reads_per_second": 1, "latency": "s3-standard"})");
  SendRequest("GET", "/b/k");
  const auto refused = SendRequest("GET", "/b/k");
  EXPECT_EQ(refused->exchange.response.status, 503);
  EXPECT_EQ(refused->exchange.response.delivery->steps.at(0).wait, milliseconds(10));
}

}  // namespace
}  // namespace penstock::emulator::traffic
