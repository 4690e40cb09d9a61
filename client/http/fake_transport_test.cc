#include "client/http/fake_transport.h"

#include <gtest/gtest.h>

#include "client/http/body_for_test.h"

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Request Get(std::string target = "/k") {
  Request request;
  request.method = "GET";
  request.endpoint = {"http", "h", 80};
  request.target = std::move(target);
  request.headers = {{"Host", "h"}};
  return request;
}

struct Call {
  Collector body;
  std::optional<Result<Outcome>> result;
  std::stop_source stop;

  void Start(Transport& transport, Request request, RequestBody* upload = nullptr,
             Deadline deadline = Deadline::Never()) {
    transport.Start(std::move(request), upload, &body, {deadline, stop.get_token()},
                    [this](Result<Outcome> outcome) { result.emplace(std::move(outcome)); });
  }
  ErrorKind kind() const { return result->error().kind; }
};

TEST(FakeTransport, PlaysRepliesInOrderAndRecordsRequests) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(503, {}, "slow"));
  transport.Expect(FakeReply::Respond(200, {{"ETag", "e"}}, "body"));
  Call first;
  Call second;
  first.Start(transport, Get("/1"));
  second.Start(transport, Get("/2"));
  EXPECT_EQ((*first.result)->head.status, 503);
  EXPECT_EQ(second.body.text, "body");
  EXPECT_EQ((*second.result)->body_bytes, 4u);
  ASSERT_EQ(transport.requests().size(), 2u);
  EXPECT_EQ(transport.requests()[1].request.target, "/2");
  EXPECT_EQ(transport.requests()[1].Header("host"), "h");
}

TEST(FakeTransport, RecordsTheWholeUpload) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200));
  TextBody upload(std::string(200'000, 'u'));
  Request request = Get();
  request.method = "PUT";
  Call call;
  call.Start(transport, request, &upload);
  EXPECT_EQ(transport.requests()[0].body, std::string(200'000, 'u'));
  EXPECT_EQ((*call.result)->sent_bytes, 200'000u);
}

TEST(FakeTransport, FailsAfterPartOfTheBody) {
  FakeTransport transport;
  transport.Expect(FakeReply::FailAfter(FakeReply::Respond(200, {}, "half"),
                                        Error::Make(ErrorKind::kUnavailable, "reset")));
  Call call;
  call.Start(transport, Get());
  EXPECT_EQ(call.body.text, "half");
  EXPECT_EQ(call.kind(), ErrorKind::kUnavailable);
}

TEST(FakeTransport, FailsAfterTheEndOfTheScript) {
  FakeTransport transport;
  Call call;
  call.Start(transport, Get());
  EXPECT_EQ(call.kind(), ErrorKind::kInternal);
}

TEST(FakeTransport, RejectsRequestsThatViolateTheContract) {
  FakeTransport transport;
  transport.SetHandler([](const RecordedRequest&) { return FakeReply::Respond(200); });
  Request no_host = Get();
  no_host.headers.clear();
  Call first;
  first.Start(transport, no_host);
  EXPECT_EQ(first.kind(), ErrorKind::kInternal);
  TextBody lying("abc");
  lying.declared_size = 4;
  Call second;
  second.Start(transport, Get(), &lying);
  EXPECT_EQ(second.kind(), ErrorKind::kInternal);
}

TEST(FakeTransport, SinkThatIsFullIsDataLoss) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, "12345"));
  Call call;
  call.body = Collector(10, 4);
  call.Start(transport, Get());
  EXPECT_EQ(call.kind(), ErrorKind::kDataLoss);
}

TEST(FakeTransport, RunsTimedTasksImmediatelyAndMovesTheClock) {
  FakeTransport transport;
  const MonotonicTime when = transport.clock().Monotonic() + seconds(3);
  MonotonicTime ran_at{};
  ASSERT_TRUE(transport.RunAt(when, [&] { ran_at = transport.clock().Monotonic(); }).ok());
  EXPECT_EQ(ran_at, when);
}

TEST(FakeTransport, HeldTasksRunInOrderOfTime) {
  FakeTransport transport;
  transport.Hold();
  std::string order;
  const MonotonicTime now = transport.clock().Monotonic();
  ASSERT_TRUE(transport.RunAt(now + seconds(2), [&] { order += "2"; }).ok());
  ASSERT_TRUE(transport.RunAt(now + seconds(1), [&] { order += "1"; }).ok());
  transport.Advance(milliseconds(999));
  EXPECT_EQ(order, "");
  transport.Advance(seconds(5));
  EXPECT_EQ(order, "12");
}

TEST(FakeTransport, CanRejectTimers) {
  FakeTransport transport;
  transport.RefuseTimers();
  bool ran = false;
  EXPECT_FALSE(transport.RunAt(transport.clock().Monotonic(), [&] { ran = true; }).ok());
  EXPECT_FALSE(ran);
}

TEST(FakeTransport, HeldRequestsWaitForRelease) {
  Call first;
  Call second;  // completed by the destructor of the transport
  FakeTransport transport;
  transport.SetHandler([](const RecordedRequest&) { return FakeReply::Respond(200); });
  transport.Hold();
  first.Start(transport, Get());
  second.Start(transport, Get());
  EXPECT_EQ(transport.waiting(), 2u);
  EXPECT_EQ(transport.Release(), 1u);
  EXPECT_TRUE(first.result.has_value());
  EXPECT_FALSE(second.result.has_value());
}

TEST(FakeTransport, CancelEndsAHangingRequest) {
  FakeTransport transport;
  transport.Expect(FakeReply::Hang());
  Call call;
  call.Start(transport, Get());
  ASSERT_FALSE(call.result.has_value());
  call.stop.request_stop();
  EXPECT_EQ(call.kind(), ErrorKind::kCancelled);
}

TEST(FakeTransport, StopBeforeStartSendsNothing) {
  FakeTransport transport;
  Call call;
  call.stop.request_stop();
  call.Start(transport, Get());
  EXPECT_EQ(call.kind(), ErrorKind::kCancelled);
  EXPECT_TRUE(transport.requests().empty());
}

TEST(FakeTransport, DeadlineEndsAHangingRequest) {
  FakeTransport transport;
  transport.Expect(FakeReply::Hang());
  Call call;
  const Deadline deadline = Deadline::After(transport.clock(), seconds(1));
  call.Start(transport, Get(), nullptr, deadline);
  EXPECT_EQ(call.kind(), ErrorKind::kTimeout);
  EXPECT_EQ(transport.clock().Monotonic(), deadline.when());
}

TEST(FakeTransport, CompletionsThatStartRequestsDoNotRecurse) {
  FakeTransport transport;
  transport.SetHandler([](const RecordedRequest&) { return FakeReply::Respond(200); });
  int left = 100'000;  // would overflow the stack if each completion ran inside the previous one
  Collector sink;
  std::function<void()> next = [&] {
    transport.Start(Get(), nullptr, &sink, {}, [&](Result<Outcome> outcome) {
      ASSERT_TRUE(outcome.ok());
      if (--left > 0) next();
    });
  };
  next();
  EXPECT_EQ(left, 0);
}

TEST(FakeTransport, DestructionCompletesWaitingRequests) {
  Call call;
  {
    FakeTransport transport;
    transport.Expect(FakeReply::Hang());
    call.Start(transport, Get());
  }
  EXPECT_EQ(call.kind(), ErrorKind::kCancelled);
}

}  // namespace
}  // namespace penstock::http
