#include "client/s3/attempt/hedged_sender.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <gtest/gtest.h>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;

SignedRequest Request() {
  SignedRequest out;
  out.request.method = "GET";
  out.request.target = "/b/k";
  out.request.headers = {{"Host", "h"}};
  return out;
}

// A call with one attempt, whose first byte is late after at most 60 ms.
struct Call final : AttemptOwner {
  explicit Call(http::FakeTransport& of_test)
      : read({.bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink}),
        transport(of_test) {
    for (int i = 0; i < 128; ++i) policy.OnFirstByte(milliseconds(20));
    for (int i = 0; i < 100; ++i) policy.OnRead(transport.clock().Monotonic());
    transport.Hold();
  }

  Result<SignedRequest> MakeSecond() override {
    if (second_fails) return Error::Make(ErrorKind::kUnauthenticated, "m");
    return Request();
  }
  void OnAttemptEnd(SentRequest& sent, SentRequest* discarded,
                    Result<http::Outcome> outcome) override {
    ++ends;
    used_second = &sent != first;
    hedged = discarded != nullptr;
    result.emplace(std::move(outcome));
  }

  StringSink sink;
  GetObjectRequest read;
  ObjectBody body{read, false};
  http::FakeTransport& transport;
  HedgePolicy policy;
  CallCounters counters;
  bool second_fails = false;
  std::optional<HedgedSender> sender;
  const SentRequest* first = nullptr;
  int ends = 0;
  bool used_second = false;
  bool hedged = false;
  std::optional<Result<http::Outcome>> result;
};

class HedgedSenderTest : public ::testing::Test {
 protected:
  std::shared_ptr<Call> Sent(const std::stop_token& cancel = {}, bool hedges = true) {
    auto call = std::make_shared<Call>(transport_);
    call->sender.emplace(
        SenderContext{transport_, transport_.clock(), call->policy, call->counters},
        Info(Operation::kGetObject), &call->body, SpeedFloor(), hedges);
    call->first = &call->sender->sent();
    call->sender->Send(call, Request(), nullptr, cancel);
    return call;
  }

  // Not in the call, which its request in flight keeps alive.
  http::FakeTransport transport_;
};

TEST_F(HedgedSenderTest, APromptResponseEndsTheAttempt) {
  const auto call = Sent();
  transport_.Expect(Object("abc"));
  transport_.Release();
  EXPECT_EQ(call->ends, 1);
  EXPECT_TRUE(call->result->ok());
  EXPECT_FALSE(call->hedged);
  EXPECT_EQ(call->sink.text, "abc");
}

TEST_F(HedgedSenderTest, TheTimerOfASecondRequestDoesNotKeepAnEndedCall) {
  auto call = Sent();
  transport_.Expect(Object("abc"));
  transport_.Release();
  EXPECT_EQ(call->ends, 1);
  const std::weak_ptr<Call> ended = call;
  call.reset();
  EXPECT_TRUE(ended.expired());
  transport_.Advance(milliseconds(60));
  EXPECT_EQ(transport_.waiting(), 0u);
}

TEST_F(HedgedSenderTest, WithoutABudgetForASecondRequestTheFirstEndsTheAttempt) {
  const auto call = Sent();
  while (call->policy.Spend()) {
  }
  transport_.Expect(Object("abc"));
  transport_.Advance(milliseconds(60));
  EXPECT_EQ(call->ends, 0);
  transport_.Release();
  EXPECT_EQ(call->ends, 1);
  EXPECT_FALSE(call->hedged);
  EXPECT_EQ(call->sink.text, "abc");
}

TEST_F(HedgedSenderTest, ALateFirstByteSendsASecondRequestAndItsResponseIsUsed) {
  const auto call = Sent();
  transport_.Expect(FakeReply::Hang());
  transport_.Expect(Object("abc"));
  transport_.Release();
  transport_.Advance(milliseconds(60));
  EXPECT_EQ(transport_.waiting(), 2u);
  transport_.Release();
  EXPECT_EQ(call->ends, 1);
  EXPECT_TRUE(call->used_second);
  EXPECT_TRUE(call->hedged);
  EXPECT_EQ(call->sink.text, "abc");
  EXPECT_EQ(call->counters.Snapshot().hedges_won, 1u);
}

TEST_F(HedgedSenderTest, FailureToSendTheSecondRequestKeepsTheFirst) {
  std::stop_source stop;
  const auto call = Sent(stop.get_token());
  call->second_fails = true;
  transport_.Expect(FakeReply::Hang());
  transport_.Release();
  transport_.Advance(milliseconds(60));
  EXPECT_EQ(transport_.waiting(), 1u);
  EXPECT_EQ(call->ends, 0) << "the first request is in flight";
  EXPECT_EQ(call->counters.Snapshot().hedges, 0u);
  stop.request_stop();
  transport_.Advance(milliseconds(1));
  EXPECT_EQ(call->ends, 1);
}

TEST_F(HedgedSenderTest, WithoutHedgingThereIsOneRequest) {
  std::stop_source stop;
  const auto call = Sent(stop.get_token(), false);
  transport_.Expect(FakeReply::Hang());
  transport_.Release();
  transport_.Advance(milliseconds(500));
  EXPECT_EQ(transport_.waiting(), 1u);
  stop.request_stop();
  transport_.Advance(milliseconds(1));
  EXPECT_EQ(call->ends, 1);
}

TEST_F(HedgedSenderTest, CancellationEndsBothRequestsAndTheAttemptOnce) {
  std::stop_source stop;
  const auto call = Sent(stop.get_token());
  transport_.Expect(FakeReply::Hang());
  transport_.Expect(FakeReply::Hang());
  transport_.Release();
  transport_.Advance(milliseconds(60));
  transport_.Release();
  stop.request_stop();
  transport_.Advance(milliseconds(1));
  EXPECT_EQ(call->ends, 1);
  ASSERT_FALSE(call->result->ok());
  EXPECT_EQ(call->result->error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(transport_.waiting(), 0u);
}

}  // namespace
}  // namespace penstock::s3
