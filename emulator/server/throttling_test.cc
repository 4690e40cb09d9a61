// Limits through the HTTP server, by the namespace's clock.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ThrottlingTest : public testing::Test {
 protected:
  void Start(const std::string& limits, AuthMode auth = AuthMode::kOff) {
    EmulatorOptions options;
    options.auth = auth;
    options.limits_json = limits;
    emulator_ = Emulator::Start(options).value();
    ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = true}).ok());
  }
  void MakeBucket() { ASSERT_EQ(SendRequest("PUT", "/bkt"), 200); }
  int SendRequest(const std::string& method, const std::string& target) const {
    return Plain(emulator_->endpoint(), method, target).status;
  }
  std::vector<int> SendRequests(int count, const std::string& method,
                                const std::string& target) const {
    std::vector<int> statuses;
    for (int i = 0; i < count; ++i) statuses.push_back(SendRequest(method, target));
    return statuses;
  }
  void Advance(std::chrono::nanoseconds by) const {
    ASSERT_TRUE(emulator_->ChangeClock("default", {.advance = by}).ok());
  }
  nlohmann::json Report() const {
    return nlohmann::json::parse(emulator_->LimitsReport("default").value());
  }

  std::unique_ptr<Emulator> emulator_;
};

using Statuses = std::vector<int>;

// Reads: 20/s with a burst of 4, so one more each 50 ms. Writes: 10/s with a burst of 2.
TEST_F(ThrottlingTest, LimitsRequestsWithATokenBucket) {
  Start(R"({"reads_per_second": 20, "writes_per_second": 10, "burst_ms": 200})");
  MakeBucket();
  EXPECT_EQ(SendRequest("PUT", "/bkt/k"), 200);  // 1 write token is left
  // Reads: 4 tokens, then none.
  EXPECT_EQ(SendRequests(6, "GET", "/bkt/k"), (Statuses{200, 200, 200, 200, 503, 503}));
  Advance(milliseconds(50));  // 1.0
  EXPECT_EQ(SendRequests(2, "HEAD", "/bkt/k"), (Statuses{200, 503}));
  Advance(milliseconds(49));  // 0.98
  EXPECT_EQ(SendRequests(1, "GET", "/bkt/k"), (Statuses{503}));
  Advance(milliseconds(1));  // 1.0
  EXPECT_EQ(SendRequests(1, "GET", "/bkt/k"), (Statuses{200}));
  Advance(milliseconds(120));  // 2.4
  EXPECT_EQ(SendRequests(3, "GET", "/bkt?list-type=2&prefix=k"), (Statuses{200, 200, 503}));
  Advance(milliseconds(30));  // 0.4 + 0.6
  EXPECT_EQ(SendRequests(2, "GET", "/bkt/none"), (Statuses{404, 503}));
  // Writes: 1 + 2.5 tokens, of which 2 are kept.
  EXPECT_EQ(SendRequests(3, "PUT", "/bkt/k"), (Statuses{200, 200, 503}));
  const nlohmann::json report = Report();
  EXPECT_EQ(report.at("admitted"), 4 + 1 + 1 + 2 + 1 + 3);
  EXPECT_EQ(report.at("refused"), 2 + 1 + 1 + 1 + 1 + 1);
}

TEST_F(ThrottlingTest, PartitionsSplitUnderLoadAndMergeLater) {
  Start(R"({"reads_per_second": 4, "burst_ms": 250, "split_after_s": 30, "merge_after_s": 60})");
  MakeBucket();
  const auto second_of_load = [this] {
    int served = 0;
    for (int i = 0; i < 8; ++i) {
      served += SendRequest("GET", i % 2 == 0 ? "/bkt/alpha/1" : "/bkt/zulu/1") == 404 ? 1 : 0;
      Advance(milliseconds(125));
    }
    return served;
  };
  for (int second = 0; second < 30; ++second) EXPECT_EQ(second_of_load(), 4) << second;
  EXPECT_EQ(Report().at("buckets").at(0).at("partitions").size(), 1u);
  EXPECT_EQ(second_of_load(), 8) << "each half must have the full budget";
  const nlohmann::json split = Report().at("buckets").at(0);
  ASSERT_EQ(split.at("partitions").size(), 2u);
  EXPECT_EQ(split.at("partitions").at(1).at("begin"), "z");
  EXPECT_EQ(split.at("events").at(0).at("kind"), "split");
  EXPECT_EQ(second_of_load(), 8);
  Advance(seconds(62));
  EXPECT_EQ(SendRequest("GET", "/bkt/alpha/1"), 404);
  const nlohmann::json merged = Report().at("buckets").at(0);
  ASSERT_EQ(merged.at("partitions").size(), 1u);
  EXPECT_EQ(merged.at("events").at(1).at("kind"), "merge");
  EXPECT_EQ(merged.at("events").at(1).at("boundary"), "z");
}

TEST_F(ThrottlingTest, ErrorsLookLikeS3) {
  Start(R"({"writes_per_second": 1, "reads_per_second": 1, "retry_after_ms": 20})");
  MakeBucket();
  SendRequest("PUT", "/bkt/k");
  SendRequest("GET", "/bkt/k");
  const std::string refused = Plain(emulator_->endpoint(), "PUT", "/bkt/k").text;
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 Slow Down\r\n")) << refused;
  EXPECT_NE(refused.find("\r\nx-amz-retry-after: 20\r\n"), std::string::npos);
  EXPECT_NE(refused.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(refused.find("\r\nContent-Type: application/xml\r\n"), std::string::npos);
  EXPECT_NE(refused.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_NE(refused.find("<Error><Code>SlowDown</Code><Message>Please reduce your request "
                         "rate.</Message><RequestId>"),
            std::string::npos);
  const std::string head = Plain(emulator_->endpoint(), "HEAD", "/bkt/k").text;
  EXPECT_TRUE(head.starts_with("HTTP/1.1 503 Slow Down\r\n")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << "a HEAD response has no document";
}

TEST_F(ThrottlingTest, Expect100ContinueGetsTheErrorBeforeTheBody) {
  Start(R"({"writes_per_second": 1})");
  MakeBucket();
  SendRequest("PUT", "/bkt/k");
  const Wire wire(emulator_->endpoint());
  wire.Send(
      "PUT /bkt/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nExpect: "
      "100-continue\r\n\r\n");
  const HttpResponse response = wire.Finish();  // it ends without the body
  EXPECT_TRUE(response.text.starts_with("HTTP/1.1 503 Slow Down\r\n")) << response.text;
}

TEST_F(ThrottlingTest, RequestsRefusedByAuthDoNotCount) {
  Start(R"({"writes_per_second": 1})", AuthMode::kVerify);
  const std::string endpoint = emulator_->endpoint();
  ASSERT_EQ(Send(endpoint, {.method = "PUT", .target = "/bkt"}).status, 200);
  EXPECT_EQ(Send(endpoint, {.method = "PUT", .target = "/bkt/k", .secret = "wrong"}).status, 403);
  EXPECT_EQ(Send(endpoint, {.method = "PUT", .target = "/bkt/k"}).status, 200);
  EXPECT_EQ(Send(endpoint, {.method = "PUT", .target = "/bkt/k"}).status, 503);
}

TEST_F(ThrottlingTest, NamespacesDoNotShareLimits) {
  Start(R"({"writes_per_second": 1})", AuthMode::kVerify);
  const AccessKey other = emulator_->CreateNamespace("other").value();
  ASSERT_TRUE(emulator_->ChangeClock("other", {.frozen = true}).ok());
  const std::string endpoint = emulator_->endpoint();
  const auto put = [&](const std::string& target, const AccessKey& key) {
    return Send(endpoint,
                {.method = "PUT", .target = target, .access_key = key.id, .secret = key.secret})
        .status;
  };
  const AccessKey first{"penstock", "penstock-secret"};
  for (const AccessKey& key : {first, other}) ASSERT_EQ(put("/bkt", key), 200);
  EXPECT_EQ(put("/bkt/k", first), 200);
  EXPECT_EQ(put("/bkt/k", first), 503);
  EXPECT_EQ(put("/bkt/k", other), 200) << "each namespace starts with the initial limits";
  EXPECT_EQ(put("/bkt/k", other), 503);
  ASSERT_TRUE(emulator_->SetLimits("other", "{}").ok());
  EXPECT_EQ(put("/bkt/k", other), 200);
  EXPECT_EQ(put("/bkt/k", first), 503);
}

TEST_F(ThrottlingTest, ResetRestoresTheInitialLimits) {
  Start(R"({"writes_per_second": 1})");
  MakeBucket();
  EXPECT_EQ(SendRequests(2, "PUT", "/bkt/k"), (Statuses{200, 503}));
  ASSERT_TRUE(emulator_->SetLimits("default", "{}").ok());
  EXPECT_EQ(SendRequests(3, "PUT", "/bkt/k"), (Statuses{200, 200, 200}));
  ASSERT_TRUE(emulator_->ResetNamespace("default").ok());
  ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = true}).ok());
  MakeBucket();
  EXPECT_EQ(SendRequests(2, "PUT", "/bkt/k"), (Statuses{200, 503}));
}

TEST_F(ThrottlingTest, AcceleratedClockRefillsFaster) {
  Start(R"({"writes_per_second": 1, "burst_ms": 0})");
  MakeBucket();
  EXPECT_EQ(SendRequests(2, "PUT", "/bkt/k"), (Statuses{200, 503}));
  ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = false, .rate = 1'000}).ok());
  const auto begin = std::chrono::steady_clock::now();
  int served = 0;
  while (served < 20 && std::chrono::steady_clock::now() - begin < seconds(10))
    served += SendRequest("PUT", "/bkt/k") == 200 ? 1 : 0;
  EXPECT_EQ(served, 20) << "20 s of the namespace's, at a thousand times the machine's pace";
}

// The clock is frozen: budgets do not refill, but latency is real time.
TEST_F(ThrottlingTest, DelaysAndPacesResponses) {
  Start(R"({"latency": {"first_byte_ms": 40, "bytes_per_second": 2000000}})");
  MakeBucket();
  const std::string body(1'000'000, 'x');
  const std::string put =
      "PUT /bkt/k HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
      "1000000\r\n\r\n" +
      body;
  ASSERT_EQ(Exchange(emulator_->endpoint(), put).status, 200);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(SendRequest("HEAD", "/bkt/k"), 200);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(40));
  const auto second = std::chrono::steady_clock::now();
  EXPECT_TRUE(Plain(emulator_->endpoint(), "GET", "/bkt/k").text.ends_with(body));
  EXPECT_GE(std::chrono::steady_clock::now() - second, milliseconds(40 + 500));
}

TEST_F(ThrottlingTest, StartNamesInvalidLimits) {
  EmulatorOptions options;
  options.limits_json = R"({"preset": "aws-lax"})";
  const auto started = Emulator::Start(options);
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message.find("limits: preset"), std::string::npos)
      << started.error().message;
}

// 40,000 bytes at 200,000 bytes/s.
TEST_F(ThrottlingTest, PacesUploads) {
  Start(R"({"latency": {"bytes_per_second": 200000}})");
  MakeBucket();
  const std::string body(40'000, 'x');
  const std::string head =
      "PUT /bkt/a HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\nContent-Length: "
      "40000\r\n\r\n";
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(Exchange(emulator_->endpoint(), head + body).status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(200));
  EXPECT_TRUE(Plain(emulator_->endpoint(), "GET", "/bkt/a").text.ends_with(body));
}

TEST_F(ThrottlingTest, StopEndsPacedUploads) {
  Start(R"({"latency": {"bytes_per_second": 1}})");
  MakeBucket();
  const Wire wire(emulator_->endpoint());
  wire.Send(
      "PUT /bkt/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3600\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_EQ(wire.Receive(25), "HTTP/1.1 100 Continue\r\n\r\n") << "the body must be read now";
  wire.Send(std::string(3'600, 'x'));  // takes an hour
  emulator_->Stop();
  EXPECT_NE(Plain(emulator_->endpoint(), "GET", "/").status, 200);
}

}  // namespace
}  // namespace penstock::emulator::server
