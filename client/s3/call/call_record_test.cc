#include "client/s3/call/call_record.h"

#include <string>

#include <gtest/gtest.h>

#include "base/fake_clock.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;

WireRequest Put() {
  WireRequest wire;
  wire.operation = Operation::kPutObject;
  wire.bucket = "b";
  wire.key = "k";
  return wire;
}

Error Failed(int status, std::string code) {
  Error error = Error::Make(ErrorKind::kUnavailable, "m");
  error.http_status = status;
  error.code = std::move(code);
  return error;
}

struct Recording {
  Recording() { sent.began = clock.Monotonic(); }

  FakeClock clock;
  const WireRequest wire = Put();
  CallCounters counters;
  CallRecord record{wire, counters, clock};
  SentRequest sent{Info(Operation::kPutObject), nullptr, SpeedFloor()};
};

TEST(CallRecordTest, ARequestIsCountedWithItsFacts) {
  Recording test;
  test.record.OnSend(RetryReason::kServerError);
  test.clock.Advance(milliseconds(5));
  http::Outcome outcome;
  outcome.head.status = 200;
  outcome.sent_bytes = 3;
  const AttemptEnd end = test.record.EndOf(test.sent, outcome);
  EXPECT_EQ(end.operation, Operation::kPutObject);
  EXPECT_EQ(end.bucket, "b");
  EXPECT_EQ(end.attempt, 1);
  EXPECT_EQ(end.http_status, 200);
  EXPECT_EQ(end.bytes_sent, 3u);
  EXPECT_EQ(end.duration, milliseconds(5));
  test.record.OnEnd(end, test.sent, {}, nullptr);
  EXPECT_EQ(test.counters.Snapshot().requests.at("PutObject"), 1u);
}

TEST(CallRecordTest, TheErrorHasTheCallAndTheHistoryOfSeveralAttempts) {
  Recording test;
  for (const char* code : {"InternalError", "SlowDown"}) {
    test.record.OnSend(RetryReason::kServerError);
    test.record.AddFailure(test.sent, Failed(500, code));
  }
  Error error = Failed(500, "SlowDown");
  test.record.Complete(error);
  EXPECT_EQ(error.operation, "PutObject");
  EXPECT_EQ(error.bucket, "b");
  EXPECT_EQ(error.attempts, 2);
  EXPECT_EQ(error.history.size(), 2u);
}

TEST(CallRecordTest, EachAttemptAfterTheFirstIsARetry) {
  Recording test;
  test.record.OnSend(RetryReason::kServerError);
  EXPECT_EQ(test.counters.Snapshot().retries, 0u);
  test.record.OnSend(RetryReason::kTimeout);
  EXPECT_EQ(test.counters.Snapshot().retries_by_reason.at("timeout"), 1u);
}

TEST(CallRecordTest, OneAttemptHasNoHistory) {
  Recording test;
  test.record.OnSend(RetryReason::kServerError);
  test.record.AddFailure(test.sent, Failed(500, "InternalError"));
  Error error = Failed(500, "InternalError");
  test.record.Complete(error);
  EXPECT_TRUE(error.history.empty());
}

TEST(CallRecordTest, AWriteWithoutAClearResponseMayHaveHappened) {
  Recording test;
  test.record.OnRetry(test.sent, Failed(0, ""));
  EXPECT_FALSE(test.record.may_have_happened()) << "there was no connection";
  test.sent.body.OnConnection({});
  test.sent.body.set_responded_early();
  test.record.OnRetry(test.sent, Failed(0, ""));
  EXPECT_FALSE(test.record.may_have_happened()) << "the response came before the whole body";
  test.sent.body.Reset();
  test.sent.body.OnConnection({});
  test.record.OnRetry(test.sent, Failed(0, ""));
  EXPECT_TRUE(test.record.may_have_happened());
  Error error = Failed(0, "");
  test.record.Complete(error);
  EXPECT_NE(error.message.find("may have been carried out"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace penstock::s3
