// ClientConfig::retry_policy, and the request ids that the observer receives.
#include <gtest/gtest.h>

#include <stdexcept>
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
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  EXPECT_EQ(test.Get().error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(test.sent(), 4u);
}

TEST(RetryPolicyTest, ExceptionEndsTheCall) {
  ClientUnderTest test(WithPolicy(
      [](const RetryQuestion&) -> RetryVerdict { throw std::runtime_error("planted"); }));
  test.transport.Expect(Refuse(503, "SlowDown"));
  EXPECT_NE(test.Get().error().message.find("planted"), std::string::npos);
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
