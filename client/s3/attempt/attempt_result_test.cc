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
    return ReadAttempt({info, wire, sent, config, secrets}, body, std::move(outcome),
                       [this](const WireResponse&) { return accepted; });
  }

  const OperationInfo& info;
  WireRequest wire;
  http::RequestBody* sent = nullptr;
  ClientConfig config;
  AttemptBody body;
  RequestSecrets secrets;
  Result<void> accepted = Ok();
};

http::Outcome ResponseOf(int status, std::vector<http::Header> headers = {}) {
  http::Outcome outcome;
  outcome.head = {status, std::move(headers)};
  return outcome;
}

TEST(AttemptResultTest, ASuccessIsWhatTheOperationAccepts) {
  Ended test(Operation::kHeadBucket);
  EXPECT_TRUE(test.Read(ResponseOf(200)).ok());
  test.accepted = Error::Make(ErrorKind::kDataLoss, "m");
  const auto result = test.Read(ResponseOf(200, {{"x-amz-request-id", "R"}}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(result.error().http_status, 200);
  EXPECT_EQ(result.error().request_id, "R");
}

TEST(AttemptResultTest, AnotherStatusIsTheErrorThatItNames) {
  Ended test(Operation::kHeadBucket);
  const auto result = test.Read(ResponseOf(404));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
}

TEST(AttemptResultTest, AnEarlySuccessOfAnUploadIsAnError) {
  Ended test(Operation::kPutObject);
  http::TextSource source("abc");
  test.sent = &source;
  http::Outcome outcome = ResponseOf(200);
  outcome.sent_bytes = 2;
  const auto result = test.Read(outcome);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(test.body.responded_early());
  test.body.Reset();
  outcome.sent_bytes = 3;
  EXPECT_TRUE(test.Read(outcome).ok());
  EXPECT_FALSE(test.body.responded_early());
}

TEST(AttemptResultTest, AnIncompleteErrorResponseIsStillThatError) {
  Ended test(Operation::kGetObject);
  ASSERT_TRUE(test.body.Begin({403, {}}).ok());
  const auto result = test.Read(Error::Make(ErrorKind::kUnavailable, "connection reset"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kAccessDenied);
}

TEST(AttemptResultTest, TheTransportsErrorForA407IsKept) {
  Ended test(Operation::kGetObject);
  ASSERT_TRUE(test.body.Begin({407, {{"x-amz-request-id", "R"}}}).ok());
  const auto result = test.Read(Error::Make(ErrorKind::kUnauthenticated, "the proxy p:1"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "the proxy p:1");
  EXPECT_EQ(result.error().http_status, 407);
  EXPECT_EQ(result.error().request_id, "R");
}

TEST(AttemptResultTest, ASignatureInTheTextsIsRedacted) {
  Ended test(Operation::kHeadBucket);
  const std::string signature(64, 'a');
  test.secrets.signature = signature;
  const auto result = test.Read(ResponseOf(403, {{"x-amz-request-id", signature}}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().request_id, "***");
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
  EXPECT_LT(test.Read(ResponseOf(200)).error().message.size(), 3000u);
}

}  // namespace
}  // namespace penstock::s3
