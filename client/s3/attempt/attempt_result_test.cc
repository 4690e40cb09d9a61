#include "client/s3/attempt/attempt_result.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "client/http/text_source.h"

namespace penstock::s3 {
namespace {

struct Ended {
  explicit Ended(Operation operation) : info(Info(operation)), body(info, nullptr) {}

  Result<void> Read(Result<http::Outcome> outcome) {
    AttemptResult read = ReadAttempt({info, wire, sent, config, nullptr}, body, std::move(outcome),
                                     [this](const WireResponse&) { return accepted; });
    answered_early = read.answered_early;
    return std::move(read.result);
  }

  const OperationInfo& info;
  WireRequest wire;
  http::RequestBody* sent = nullptr;
  ClientConfig config;
  AttemptBody body;
  Result<void> accepted = Ok();
  bool answered_early = false;  // the last response
};

http::Outcome Answer(int status, std::vector<http::Header> headers = {}) {
  http::Outcome outcome;
  outcome.head = {status, std::move(headers)};
  return outcome;
}

TEST(AttemptResultTest, ASuccessIsWhatTheOperationAccepts) {
  Ended test(Operation::kHeadBucket);
  EXPECT_TRUE(test.Read(Answer(200)).ok());
  test.accepted = Error::Make(ErrorKind::kDataLoss, "m");
  const auto result = test.Read(Answer(200, {{"x-amz-request-id", "R"}}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(result.error().http_status, 200);
  EXPECT_EQ(result.error().request_id, "R");
}

TEST(AttemptResultTest, AnotherStatusIsTheErrorThatItNames) {
  Ended test(Operation::kHeadBucket);
  const auto result = test.Read(Answer(404));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
}

TEST(AttemptResultTest, AnEarlySuccessOfAnUploadIsAnError) {
  Ended test(Operation::kPutObject);
  http::TextSource source("abc");
  test.sent = &source;
  http::Outcome outcome = Answer(200);
  outcome.sent_bytes = 2;
  const auto result = test.Read(outcome);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(test.answered_early);
  outcome.sent_bytes = 3;
  EXPECT_TRUE(test.Read(outcome).ok());
  EXPECT_FALSE(test.answered_early);
}

TEST(AttemptResultTest, AnIncompleteErrorResponseIsStillThatError) {
  Ended test(Operation::kGetObject);
  ASSERT_TRUE(test.body.Begin({403, {}}).ok());
  const auto result = test.Read(Error::Make(ErrorKind::kUnavailable, "connection reset"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kAccessDenied);
}

TEST(AttemptResultTest, ATimeoutNamesTheSettingThatApplied) {
  Ended test(Operation::kGetObject);
  test.config.low_speed_bytes_per_second = 1;
  test.config.low_speed_time = test.config.idle_timeout / 2;
  const Error idle = Error::Make(ErrorKind::kTimeout, "m").About("idle_timeout");
  EXPECT_EQ(test.Read(idle).error().setting, "low_speed_bytes_per_second");
  test.config.low_speed_time = test.config.idle_timeout;
  EXPECT_EQ(test.Read(idle).error().setting, "idle_timeout");
}

TEST(AttemptResultTest, LongTextsOfTheServerAreShortened) {
  Ended test(Operation::kHeadBucket);
  test.accepted = Error::Make(ErrorKind::kUnavailable, std::string(10'000, 'x'));
  EXPECT_LT(test.Read(Answer(200)).error().message.size(), 3000u);
}

}  // namespace
}  // namespace penstock::s3
