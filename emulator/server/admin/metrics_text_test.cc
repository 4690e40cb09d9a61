#include "emulator/server/admin/metrics_text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::microseconds;

bool HasLine(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsTextTest, CountersHaveLabelsHelpAndType) {
  EmulatorStats stats;
  stats.requests = {{"GetObject", 2}, {"Unknown", 1}};
  stats.statuses = {{200, 3}};
  stats.bytes_in = 18'446'744'073'709'551'615u;
  const std::string text = MetricsText(stats, {});
  EXPECT_TRUE(HasLine(text, "# TYPE penstock_emulator_requests_total counter")) << text;
  EXPECT_TRUE(HasLine(text, "# HELP penstock_emulator_requests_total Requests by S3 operation."));
  EXPECT_TRUE(HasLine(text, R"(penstock_emulator_requests_total{operation="GetObject"} 2)"));
  EXPECT_TRUE(HasLine(text, R"(penstock_emulator_responses_total{code="200"} 3)"));
  EXPECT_TRUE(HasLine(text, "penstock_emulator_received_bytes_total 18446744073709551615"));
}

TEST(MetricsTextTest, EscapesLabelValues) {
  EmulatorStats stats;
  stats.diagnostics = {{"a\\b\"c\nd", 1}};
  EXPECT_TRUE(HasLine(MetricsText(stats, {}),
                      R"(penstock_emulator_diagnostics_total{event="a\\b\"c\nd"} 1)"));
}

TEST(MetricsTextTest, HistogramBucketsAreCumulative) {
  EmulatorStats stats;
  RequestDurations& reads = stats.durations["read"];
  reads.counts[0] = 2;
  reads.counts[1] = 3;
  reads.counts.back() = 1;
  reads.sum = microseconds(1'500'250);
  const std::string text = MetricsText(stats, {});
  const std::string bucket =
      R"(penstock_emulator_request_duration_seconds_bucket{class="read",le=)";
  EXPECT_TRUE(HasLine(text, bucket + R"("0.0001"} 2)")) << text;
  EXPECT_TRUE(HasLine(text, bucket + R"("0.00025"} 5)"));
  EXPECT_TRUE(HasLine(text, bucket + R"("10"} 5)"));
  EXPECT_TRUE(HasLine(text, bucket + R"("+Inf"} 6)"));
  EXPECT_TRUE(
      HasLine(text, R"(penstock_emulator_request_duration_seconds_sum{class="read"} 1.50025)"));
  EXPECT_TRUE(HasLine(text, R"(penstock_emulator_request_duration_seconds_count{class="read"} 6)"));
}

HttpResponse Scrape(const Emulator& emulator, const std::string& method,
                    const std::string& header = "") {
  return Exchange(emulator.admin_endpoint(),
                  method + " /_penstock/metrics HTTP/1.1\r\nHost: localhost\r\n" + header +
                      "Connection: close\r\nContent-Length: 0\r\n\r\n");
}

TEST(MetricsRouteTest, CountsRequestsOfClientsAndHasGauges) {
  const auto emulator = Emulator::Start({.memory_limit_bytes = 64 << 20}).value();
  ASSERT_EQ(Send(emulator->endpoint(), {.method = "PUT", .target = "/bucket"}).status, 200);
  const HttpResponse response = Scrape(*emulator, "GET");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.text.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  const std::string body = response.text.substr(response.text.find("\r\n\r\n") + 4);
  EXPECT_TRUE(HasLine(body, R"(penstock_emulator_requests_total{operation="CreateBucket"} 1)"));
  EXPECT_TRUE(HasLine(body, R"(penstock_emulator_responses_total{code="200"} 1)"));
  EXPECT_TRUE(HasLine(body, "penstock_emulator_memory_limit_bytes 67108864"));
  EXPECT_TRUE(HasLine(body, "penstock_emulator_namespaces 1"));
  EXPECT_TRUE(HasLine(body, "penstock_emulator_journal_bytes 65536"));
  EXPECT_TRUE(
      HasLine(body, R"(penstock_emulator_build_info{version=")" PENSTOCK_VERSION R"("} 1)"));
  EXPECT_EQ(Scrape(*emulator, "HEAD").status, 200);
}

TEST(MetricsRouteTest, ConnectionsThatAreOpenAreCounted) {
  const auto emulator = Emulator::Start({}).value();
  const Wire first(emulator->endpoint());
  first.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_FALSE(first.ReceiveSome().empty());
  EXPECT_EQ(emulator->gauges()->open_connections, 1u);
  const Wire second(emulator->endpoint());
  second.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_FALSE(second.ReceiveSome().empty());
  EXPECT_EQ(emulator->gauges()->open_connections, 2u);
}

TEST(MetricsRouteTest, NeedsTheAdminToken) {
  const auto emulator = Emulator::Start({.admin_token = "sesame"}).value();
  EXPECT_EQ(Scrape(*emulator, "GET").status, 401);
  EXPECT_EQ(Scrape(*emulator, "GET", "Authorization: Bearer sesame\r\n").status, 200);
}

TEST(MetricsRouteTest, AStoppedEmulatorHasNoGauges) {
  const auto emulator = Emulator::Start({}).value();
  emulator->Stop();
  EXPECT_EQ(emulator->gauges().error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::emulator::server
