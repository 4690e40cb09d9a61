// ClientConfig::retry_policy, and the request ids that the observer receives.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

ClientConfig WithPolicy(RetryPolicy policy) {
  ClientConfig config;
  config.retry_policy = std::move(policy);
  return config;
}

TEST(RetryPolicyTest, SeesEveryFailureAndKeepsTheDefault) {
  std::vector<std::string> seen;
  ClientUnderTest test(WithPolicy([&](const RetryQuestion& question) {
    seen.push_back(std::string(question.operation) + " " + std::string(question.bucket) + "/" +
                   std::string(question.key) + " " + std::to_string(question.attempt) + " " +
                   question.error.code + (question.retried_by_default ? " retried" : " final"));
    return RetryVerdict::kDefault;
  }));
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(Refuse(403, "AccessDenied"));
  EXPECT_EQ(test.Get().error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(seen, (std::vector<std::string>{"GetObject bucket/key 1 SlowDown retried",
                                            "GetObject bucket/key 2 AccessDenied final"}));
}

TEST(RetryPolicyTest, StopsARetry) {
  ClientUnderTest test(WithPolicy([](const RetryQuestion&) { return RetryVerdict::kStop; }));
  test.transport.Expect(Refuse(503, "SlowDown"));
  const Error error = test.Get().error();
  EXPECT_EQ(error.code, "SlowDown");
  EXPECT_NE(error.message.find("the retry policy of the client stopped it"), std::string::npos);
  EXPECT_EQ(test.sent(), 1u);
}

TEST(RetryPolicyTest, AddsARetryWithinMaxAttempts) {
  ClientConfig config = WithPolicy([](const RetryQuestion& question) {
    return question.error.code == "NoSuchKey" ? RetryVerdict::kRetry : RetryVerdict::kDefault;
  });
  config.max_attempts = 2;
  ClientUnderTest test(config);
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  test.transport.Expect(Object("written meanwhile"));
  EXPECT_TRUE(test.Get().ok());
  EXPECT_EQ(test.client->stats().retries_by_reason.at("retry_policy"), 1u);
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  EXPECT_EQ(test.Get().error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(test.sent(), 4u);
}

TEST(RetryPolicyTest, ExceptionEndsTheCall) {
  ClientUnderTest test(WithPolicy(
      [](const RetryQuestion&) -> RetryVerdict { throw std::runtime_error("planted"); }));
  test.transport.Expect(Refuse(503, "SlowDown"));
  const std::string message = test.Get().error().message;
  EXPECT_NE(message.find("planted"), std::string::npos) << message;
  EXPECT_NE(message.find("the retry policy"), std::string::npos) << message;
}

// The questions of a policy that decides later.
struct LatePolicy {
  std::vector<std::string> codes;
  std::vector<std::function<void(RetryVerdict)>> decide;

  ClientConfig Config() {
    ClientConfig config;
    config.async_retry_policy = [this](const RetryQuestion& question,
                                       std::function<void(RetryVerdict)> done) {
      codes.push_back(question.error.code);
      decide.push_back(std::move(done));
    };
    return config;
  }
};

struct LateCall {
  explicit LateCall(ClientUnderTest& test, CallOptions options = {}) {
    test.client->Start(GetObjectRequest{.bucket = BucketName("bucket"),
                                        .key = ObjectKey("key"),
                                        .sink = &test.sink,
                                        .options = std::move(options)},
                       [this](Result<ObjectMetadata> r) {
                         ++completions;
                         result.emplace(std::move(r));
                       });
    test.transport.Release();
  }
  std::optional<Result<ObjectMetadata>> result;
  int completions = 0;
};

TEST(AsyncRetryPolicyTest, TheCallWaitsForTheVerdict) {
  LatePolicy policy;
  ClientUnderTest test(policy.Config());
  test.transport.Hold();
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  LateCall call(test);
  ASSERT_EQ(policy.codes, std::vector<std::string>{"NoSuchKey"});
  EXPECT_FALSE(call.result);
  test.transport.Expect(Object("text"));
  policy.decide.at(0)(RetryVerdict::kRetry);
  policy.decide.at(0)(RetryVerdict::kStop);  // Too late.
  test.transport.Advance(std::chrono::seconds(0));
  test.transport.Advance(std::chrono::seconds(20));
  test.transport.Release();
  ASSERT_TRUE(call.result);
  EXPECT_TRUE(call.result->ok());
  EXPECT_EQ(call.completions, 1);
}

TEST(AsyncRetryPolicyTest, AVerdictDuringTheQuestionCounts) {
  ClientConfig config;
  config.async_retry_policy = [](const RetryQuestion&, auto decide) {
    decide(RetryVerdict::kStop);
  };
  ClientUnderTest test(config);
  test.transport.Expect(Refuse(503, "SlowDown"));
  const Error error = test.Get().error();
  EXPECT_NE(error.message.find("the retry policy of the client stopped it"), std::string::npos);
  EXPECT_EQ(test.sent(), 1u);
}

TEST(AsyncRetryPolicyTest, WithoutAVerdictTheDefaultApplies) {
  LatePolicy policy;
  ClientUnderTest test(policy.Config());
  test.transport.Hold();
  test.transport.Expect(Refuse(403, "AccessDenied"));
  LateCall call(test);
  test.transport.Advance(std::chrono::seconds(29));
  EXPECT_FALSE(call.result);
  test.transport.Advance(std::chrono::seconds(2));
  ASSERT_TRUE(call.result);
  EXPECT_EQ(call.result->error().kind, ErrorKind::kAccessDenied);
  policy.decide.at(0)(RetryVerdict::kRetry);
  test.transport.Advance(std::chrono::seconds(0));
  EXPECT_EQ(call.completions, 1);
}

TEST(AsyncRetryPolicyTest, ACancelledCallDoesNotWait) {
  LatePolicy policy;
  ClientUnderTest test(policy.Config());
  test.transport.Hold();
  test.transport.Expect(Refuse(503, "SlowDown"));
  std::stop_source stop;
  CallOptions options;
  options.cancel = stop.get_token();
  LateCall call(test, options);
  stop.request_stop();
  test.transport.Advance(std::chrono::seconds(0));
  ASSERT_TRUE(call.result);
  EXPECT_EQ(call.result->error().kind, ErrorKind::kCancelled);
}

TEST(AsyncRetryPolicyTest, TheDeadlineEndsTheWait) {
  LatePolicy policy;
  ClientUnderTest test(policy.Config());
  test.transport.Hold();
  test.transport.Expect(Refuse(503, "SlowDown"));
  CallOptions options;
  options.deadline = Deadline::After(test.transport.clock(), std::chrono::seconds(3));
  LateCall call(test, options);
  EXPECT_FALSE(call.result);
  test.transport.Advance(std::chrono::seconds(4));
  ASSERT_TRUE(call.result);
  EXPECT_EQ(call.result->error().code, "SlowDown");
}

TEST(AsyncRetryPolicyTest, ExceptionEndsTheCall) {
  ClientConfig config;
  config.async_retry_policy = [](const RetryQuestion&, auto) {
    throw std::runtime_error("planted");
  };
  ClientUnderTest test(config);
  test.transport.Expect(Refuse(503, "SlowDown"));
  EXPECT_NE(test.Get().error().message.find("planted"), std::string::npos);
}

TEST(AsyncRetryPolicyTest, TwoPoliciesAreRefused) {
  ClientConfig config = WithPolicy([](const RetryQuestion&) { return RetryVerdict::kDefault; });
  config.region = "us-east-1";
  config.async_retry_policy = [](const RetryQuestion&, auto) {};
  EXPECT_EQ(Client::Create(config).error().kind, ErrorKind::kInvalidArgument);
}

TEST(ObserverTest, ReceivesTheRequestIdOfSuccessesAndFailures) {
  ClientUnderTest test;
  std::vector<std::string> ids;
  test.client->SetObserver([&](const RequestEvent& event) { ids.push_back(event.request_id); });
  test.transport.Expect(
      FakeReply::Respond(503, {{"x-amz-request-id", "FIRST"}}, ErrorXml("SlowDown")));
  test.transport.Expect(Object("text", {{"x-amz-request-id", "SECOND"}}));
  test.transport.Expect(Object("text"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(ids, (std::vector<std::string>{"FIRST", "SECOND", ""}));
}

}  // namespace
}  // namespace penstock::s3
