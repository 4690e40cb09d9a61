#include "emulator/faults/fail_rate.h"

#include <gtest/gtest.h>

#include <memory>
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

// A chain with the filter alone.
struct Tested {
  explicit Tested(FailRateOptions options) : Tested(MakeFailRate(options)) {}
  std::uint64_t injected() const { return fail_rate.injected(); }

  Teapot next;
  FailRate& fail_rate;
  s3::FilterChain chain;

 private:
  explicit Tested(std::unique_ptr<FailRate> filter)
      : fail_rate(*filter), chain(next, std::move(filter)) {}
};

s3::Response SendRequest(Tested& tested, const std::string& method, const std::string& key,
                         const std::string& range = {}, const std::string& part = {}) {
  s3::RequestHead head;
  head.method = method;
  if (!range.empty()) head.headers.push_back({"Range", range});
  s3::Connection connection;
  TextBody body;
  s3::Exchange exchange{head, connection, &body};
  exchange.target.raw_path = "/b/" + key;
  exchange.target.bucket = BucketName("b");
  exchange.target.key = ObjectKey(key);
  if (!part.empty()) exchange.target.query.push_back({"partNumber", part});
  tested.chain.Handle(exchange);
  return std::move(exchange.response);
}

// Sends `count` requests for distinct keys. Returns 'x' for a failure and '.' for a success.
std::string Pattern(Tested& tested, int count) {
  std::string pattern;
  for (int i = 0; i < count; ++i) {
    pattern += SendRequest(tested, "GET", "k" + std::to_string(i)).status == 503 ? 'x' : '.';
  }
  return pattern;
}

std::string FirstPattern(FailRateOptions options) {
  Tested tested(options);
  return Pattern(tested, 300);
}

TEST(FailRateTest, ZeroNeverFails) {
  Tested tested({.rate = 0});
  EXPECT_EQ(Pattern(tested, 500), std::string(500, '.'));
  EXPECT_EQ(tested.injected(), 0u);
}

TEST(FailRateTest, OneAlwaysFails) {
  Tested tested({.rate = 1});
  EXPECT_EQ(Pattern(tested, 500), std::string(500, 'x'));
  EXPECT_EQ(tested.injected(), 500u);
}

TEST(FailRateTest, FailsTheConfiguredShare) {
  Tested tested({.rate = 0.05, .seed = 7});
  Pattern(tested, 10000);
  // The standard deviation of 10,000 draws at 5 % is 21.8. Allow five standard deviations.
  EXPECT_GT(tested.injected(), 391u);
  EXPECT_LT(tested.injected(), 609u);
}

TEST(FailRateTest, SameSeedFailsTheSameRequests) {
  EXPECT_EQ(FirstPattern({.rate = 0.3, .seed = 7}), FirstPattern({.rate = 0.3, .seed = 7}));
}

TEST(FailRateTest, AnotherSeedFailsOthers) {
  EXPECT_NE(FirstPattern({.rate = 0.3, .seed = 7}), FirstPattern({.rate = 0.3, .seed = 8}));
}

TEST(FailRateTest, ResetStartsTheSequenceOver) {
  Tested tested({.rate = 0.3, .seed = 7});
  const std::string first = Pattern(tested, 300);
  EXPECT_NE(Pattern(tested, 300), first) << "a second arrival is decided separately";
  tested.fail_rate.Reset();
  EXPECT_EQ(tested.injected(), 0u);
  EXPECT_EQ(Pattern(tested, 300), first);
}

TEST(FailRateTest, ThreadTimingChangesNothing) {
  Tested alone({.rate = 0.3, .seed = 7});
  Tested shared({.rate = 0.3, .seed = 7});
  // Every key arrives three times. The number of failures does not depend on thread order.
  for (int round = 0; round < 3; ++round) Pattern(alone, 400);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&shared] { Pattern(shared, 400); });
  }
  EXPECT_EQ(alone.injected(), shared.injected());
}

TEST(FailRateTest, RangesAndPartsAreSeparateRequests) {
  Tested tested({.rate = 0.5, .seed = 7});
  std::string ranges;
  std::string parts;
  for (int i = 0; i < 64; ++i) {
    ranges += SendRequest(tested, "GET", "k", "bytes=" + std::to_string(i) + "-").status == 503
                  ? 'x'
                  : '.';
    parts += SendRequest(tested, "PUT", "k", "", std::to_string(i)).status == 503 ? 'x' : '.';
    tested.fail_rate.Reset();  // The requests differ only in their identity.
  }
  EXPECT_NE(ranges.find('x'), std::string::npos);
  EXPECT_NE(ranges.find('.'), std::string::npos);
  EXPECT_NE(parts.find('x'), std::string::npos);
  EXPECT_NE(parts.find('.'), std::string::npos);
}

TEST(FailRateTest, RespondsLikeS3) {
  Tested tested({.rate = 1});
  const s3::Response response = SendRequest(tested, "GET", "k");
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
  Tested tested({.rate = 1});
  const s3::Response response = SendRequest(tested, "HEAD", "k");
  EXPECT_EQ(response.status, 503);
  EXPECT_FALSE(std::holds_alternative<std::string>(response.body) &&
               !std::get<std::string>(response.body).empty());
}

}  // namespace
}  // namespace penstock::emulator::faults
