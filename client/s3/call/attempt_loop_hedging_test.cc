// Hedged reads, rates that delay requests, and the attempt history of errors, on a scripted
// transport with its own clock.
#include <gtest/gtest.h>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Error Reset() { return Error::Make(ErrorKind::kUnavailable, "connection reset"); }

TEST(HedgedSendingTest, ALateFirstByteSendsASecondRequestAndTheFirstResponseWins) {
  HedgingClient test;
  test.transport.Expect(FakeReply::Hang());
  test.transport.Expect(Object("abc"));
  test.Begin();
  test.transport.Release();
  test.transport.Advance(milliseconds(60));
  ASSERT_EQ(test.transport.waiting(), 2u) << "the second request is in flight";
  test.transport.Release();
  ASSERT_TRUE(test.result && test.result->ok());
  EXPECT_EQ(test.sink.text, "abc");
  EXPECT_EQ(test.sink.begins, 1);
  EXPECT_EQ(test.transport.waiting(), 0u) << "the other request was cancelled";
  EXPECT_EQ(test.client->stats().hedges, 1u);
  EXPECT_EQ(test.client->stats().hedges_won, 1u);
  EXPECT_EQ(test.client->stats().requests.at("GetObject"), 2u);
  EXPECT_EQ(test.client->stats().failures, 0u);
  EXPECT_EQ(test.client->stats().retries, 0u);
  EXPECT_EQ(test.Header(0, "amz-sdk-request"), test.Header(1, "amz-sdk-request"))
      << "it is the same attempt";
}

TEST(HedgedSendingTest, APromptResponseIsNotHedged) {
  HedgingClient test;
  test.transport.Expect(Object("abc"));
  test.Begin();
  test.transport.Release();
  test.transport.Advance(seconds(1));
  ASSERT_TRUE(test.result && test.result->ok());
  EXPECT_EQ(test.sent(), 1u);
}

TEST(HedgedSendingTest, AfterAnErrorOfOneRequestTheOtherContinues) {
  HedgingClient test;
  test.transport.Expect(FakeReply::Hang());
  test.transport.Expect(Refuse(500, "InternalError"));
  test.transport.Expect(Object("abc"));
  CallOptions options;
  std::stop_source stop;
  options.cancel = stop.get_token();
  test.Begin(options);
  test.transport.Release();
  test.transport.Advance(milliseconds(60));
  test.transport.Release();
  EXPECT_FALSE(test.result) << "the first request is still in flight";
  stop.request_stop();
  test.transport.Advance(milliseconds(1));
  ASSERT_TRUE(test.result);
  EXPECT_EQ(test.result->error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(test.transport.waiting(), 0u);
}

TEST(HedgedSendingTest, TheBudgetLimitsHedges) {
  HedgingClient test;
  for (int i = 0; i < 3; ++i) {
    test.result.reset();
    test.transport.Expect(FakeReply::Hang());
    if (i < 2) test.transport.Expect(Object("abc"));
    std::stop_source stop;
    test.Begin({.cancel = stop.get_token()});
    test.transport.Release();
    test.transport.Advance(milliseconds(60));
    EXPECT_EQ(test.transport.waiting(), i < 2 ? 2u : 1u) << i;
    test.transport.Release();
    if (i < 2) continue;
    stop.request_stop();
    test.transport.Advance(milliseconds(1));
  }
  EXPECT_EQ(test.client->stats().hedges, 2u);
}

TEST(HedgedSendingTest, CanBeDisabled) {
  ClientConfig config;
  config.hedge_reads = false;
  HedgingClient test(config);
  test.transport.Expect(FakeReply::Hang());
  std::stop_source stop;
  test.Begin({.cancel = stop.get_token()});
  test.transport.Release();
  test.transport.Advance(seconds(1));
  EXPECT_EQ(test.transport.waiting(), 1u);
  stop.request_stop();
  test.transport.Advance(milliseconds(1));
  EXPECT_EQ(test.sent(), 1u);
}

TEST(HedgedSendingTest, OnlyReadsAreHedged) {
  HedgingClient test;
  test.transport.Expect(FakeReply::Hang());
  StringSource body("abc");
  std::stop_source stop;
  bool done = false;
  test.client->Start(PutObjectRequest{.bucket = BucketName("b"),
                                      .key = ObjectKey("k"),
                                      .body = &body,
                                      .options = {.cancel = stop.get_token()}},
                     [&done](auto) { done = true; });
  test.transport.Release();
  test.transport.Advance(seconds(5));
  EXPECT_EQ(test.transport.waiting(), 1u);
  stop.request_stop();
  test.transport.Advance(milliseconds(1));
  EXPECT_TRUE(done);
}

TEST(HedgedSendingTest, AnErrorListsItsAttempts) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 3});
  test.transport.Expect(Refuse(503, "SlowDown", {{"x-amz-request-id", "R1"}}));
  test.transport.Expect(FakeReply::Refuse(Reset()));
  test.transport.Expect(Refuse(500, "InternalError", {{"x-amz-request-id", "R3"}}));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  const std::vector<FailedAttempt>& history = result.error().history;
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[0].ToString(),
            "2013-05-24T00:00:00.000Z 192.0.2.1:9000 503 SlowDown after 0 ms [request id R1]");
  EXPECT_EQ(history[1].ToString(), "2013-05-24T00:00:00.125Z no connection unavailable after 0 ms");
  EXPECT_EQ(history[2].http_status, 500);
  EXPECT_EQ(history[2].request_id, "R3");
}

TEST(HedgedSendingTest, ACallWithOneAttemptHasNoHistory) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  EXPECT_TRUE(test.Get().error().history.empty());
}

TEST(HedgedSendingTest, ManyThrottlingErrorsLimitThePrefixForAllClients) {
  ClientConfig config{.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 64};
  ClientUnderTest test(config);
  test.transport.SetHandler([](const auto&) { return Refuse(503, "SlowDown"); });
  EXPECT_FALSE(test.Get().ok());
  const RateScope scope{"127.0.0.1:9000", "bucket", "key", false};
  RateLimiter* const rate = test.rates.Find(scope);
  ASSERT_NE(rate, nullptr);
  EXPECT_GT(static_cast<PrefixRate*>(rate)->rate(), 0);
  const Turn first = rate->Join(test.transport.clock().Monotonic());
  const Turn second = rate->Join(test.transport.clock().Monotonic());
  EXPECT_GT(rate->WaitFor(second, test.transport.clock().Monotonic()), seconds(0)) << first;
}

TEST(HedgedSendingTest, StandardModeDoesNotLimitPrefixes) {
  ClientConfig config{.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 64};
  config.retry_mode = RetryMode::kStandard;
  ClientUnderTest test(config);
  test.transport.SetHandler([](const auto&) { return Refuse(503, "SlowDown"); });
  EXPECT_FALSE(test.Get().ok());
  EXPECT_EQ(test.rates.Find({"127.0.0.1:9000", "bucket", "key", false}), nullptr);
}

TEST(HedgedSendingTest, AdaptiveModeSlowsTheWholeClient) {
  ClientConfig config{.endpoint_url = "http://127.0.0.1:9000"};
  config.retry_mode = RetryMode::kAdaptive;
  ClientUnderTest test(config);
  test.transport.SetHandler([](const auto&) { return Refuse(503, "SlowDown"); });
  EXPECT_FALSE(test.Get().ok());
  EXPECT_EQ(test.sent(), 3u);
  test.transport.SetHandler([](const auto&) { return Object("abc"); });
  const MonotonicTime before = test.transport.clock().Monotonic();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(test.Get().ok());
  EXPECT_GT(test.transport.clock().Monotonic() - before, seconds(1))
      << "one request in two seconds";
}

TEST(HedgedSendingTest, AnAttemptHasItsOwnLimit) {
  ClientConfig config{.endpoint_url = "http://127.0.0.1:9000"};
  config.attempt_timeout = seconds(2);
  ClientUnderTest test(config);
  test.transport.Expect(FakeReply::Hang());
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Get().ok());
  EXPECT_EQ(test.sent(), 2u);
  EXPECT_EQ(test.sink.text, "abc");
}

TEST(HedgedSendingTest, AnOperationHasALimitForAllAttempts) {
  ClientConfig config{.endpoint_url = "http://127.0.0.1:9000"};
  config.attempt_timeout = seconds(2);
  config.operation_timeout = seconds(5);
  ClientUnderTest test(config);
  test.transport.SetHandler([](const auto&) { return FakeReply::Hang(); });
  const MonotonicTime before = test.transport.clock().Monotonic();
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_LE(test.transport.clock().Monotonic() - before, seconds(5));
  EXPECT_GE(test.sent(), 2u);
}

}  // namespace
}  // namespace penstock::s3
