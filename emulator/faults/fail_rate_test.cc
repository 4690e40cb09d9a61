#include "emulator/faults/fail_rate.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/faults/test_support.h"

namespace penstock::emulator::faults {
namespace {

class Teapot final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override { exchange.response.status = 418; }
};

s3::Response Ask(s3::Handler& handler, const std::string& method, const std::string& key,
                 const std::string& range = {}, const std::string& part = {}) {
  s3::RequestHead head;
  head.method = method;
  if (!range.empty()) head.headers.push_back({"Range", range});
  s3::Connection connection;
  NoBody body;
  s3::Exchange exchange{head, connection, &body};
  exchange.target.raw_path = "/b/" + key;
  exchange.target.bucket = BucketName("b");
  exchange.target.key = ObjectKey(key);
  if (!part.empty()) exchange.target.query.push_back({"partNumber", part});
  handler.Handle(exchange);
  return std::move(exchange.response);
}

// Sends `count` requests for distinct keys. Returns 'x' for a failure and '.' for a success.
std::string Pattern(s3::Handler& handler, int count) {
  std::string pattern;
  for (int i = 0; i < count; ++i) {
    pattern += Ask(handler, "GET", "k" + std::to_string(i)).status == 503 ? 'x' : '.';
  }
  return pattern;
}

TEST(FailRateTest, ZeroNeverFails) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 0}, next);
  EXPECT_EQ(Pattern(*handler, 500), std::string(500, '.'));
  EXPECT_EQ(handler->injected(), 0u);
}

TEST(FailRateTest, OneAlwaysFails) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 1}, next);
  EXPECT_EQ(Pattern(*handler, 500), std::string(500, 'x'));
  EXPECT_EQ(handler->injected(), 500u);
}

TEST(FailRateTest, FailsTheConfiguredShare) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 0.05, .seed = 7}, next);
  Pattern(*handler, 10000);
  // The standard deviation of 10,000 draws at 5 % is 21.8. Allow five standard deviations.
  EXPECT_GT(handler->injected(), 391u);
  EXPECT_LT(handler->injected(), 609u);
}

TEST(FailRateTest, SameSeedFailsTheSameRequests) {
  Teapot next;
  EXPECT_EQ(Pattern(*MakeFailRate({.rate = 0.3, .seed = 7}, next), 300),
            Pattern(*MakeFailRate({.rate = 0.3, .seed = 7}, next), 300));
}

TEST(FailRateTest, AnotherSeedFailsOthers) {
  Teapot next;
  EXPECT_NE(Pattern(*MakeFailRate({.rate = 0.3, .seed = 7}, next), 300),
            Pattern(*MakeFailRate({.rate = 0.3, .seed = 8}, next), 300));
}

TEST(FailRateTest, ResetStartsTheSequenceOver) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 0.3, .seed = 7}, next);
  const std::string first = Pattern(*handler, 300);
  EXPECT_NE(Pattern(*handler, 300), first) << "a second arrival is decided separately";
  handler->Reset();
  EXPECT_EQ(handler->injected(), 0u);
  EXPECT_EQ(Pattern(*handler, 300), first);
}

TEST(FailRateTest, ThreadTimingChangesNothing) {
  Teapot next;
  const auto alone = MakeFailRate({.rate = 0.3, .seed = 7}, next);
  const auto shared = MakeFailRate({.rate = 0.3, .seed = 7}, next);
  // Every key arrives three times. The number of failures does not depend on thread order.
  for (int round = 0; round < 3; ++round) Pattern(*alone, 400);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&shared] { Pattern(*shared, 400); });
  }
  EXPECT_EQ(alone->injected(), shared->injected());
}

TEST(FailRateTest, RangesAndPartsAreSeparateRequests) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 0.5, .seed = 7}, next);
  std::string ranges;
  std::string parts;
  for (int i = 0; i < 64; ++i) {
    ranges +=
        Ask(*handler, "GET", "k", "bytes=" + std::to_string(i) + "-").status == 503 ? 'x' : '.';
    parts += Ask(*handler, "PUT", "k", "", std::to_string(i)).status == 503 ? 'x' : '.';
    handler->Reset();  // The requests differ only in their identity.
  }
  EXPECT_NE(ranges.find('x'), std::string::npos);
  EXPECT_NE(ranges.find('.'), std::string::npos);
  EXPECT_NE(parts.find('x'), std::string::npos);
  EXPECT_NE(parts.find('.'), std::string::npos);
}

TEST(FailRateTest, RespondsLikeS3) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 1}, next);
  const s3::Response response = Ask(*handler, "GET", "k");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.reason, "Slow Down");
  EXPECT_TRUE(response.close);
  EXPECT_EQ(response.Find("content-type"), "application/xml");
  const std::string& document = std::get<std::string>(response.body);
  EXPECT_NE(
      document.find("<Code>SlowDown</Code><Message>Please reduce your request rate.</Message>"),
      std::string::npos);
}

TEST(FailRateTest, HeadFailsWithoutADocument) {
  Teapot next;
  const auto handler = MakeFailRate({.rate = 1}, next);
  const s3::Response response = Ask(*handler, "HEAD", "k");
  EXPECT_EQ(response.status, 503);
  EXPECT_FALSE(std::holds_alternative<std::string>(response.body) &&
               !std::get<std::string>(response.body).empty());
}

}  // namespace
}  // namespace penstock::emulator::faults
