#include "client/http/reactor.h"

#include <gtest/gtest.h>

#include <future>

#include "client/http/pending_for_test.h"
#include "client/http/raw_server_for_test.h"

namespace penstock::http {
namespace {

TEST(Reactor, CountsItsLoad) {
  std::promise<void> asked;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    asked.set_value();
    connection.WaitForClose();
  });
  const auto reactor = std::make_shared<Reactor>(CurlTransportOptions{}, 4);
  EXPECT_EQ(reactor->load(), 0u);
  Pending pending;
  reactor->Submit(pending.Make(server.Get()));
  asked.get_future().wait();
  EXPECT_EQ(reactor->load(), 1u);
  reactor->Stop();
  EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(reactor->load(), 0u);
}

TEST(Reactor, StopIsIdempotentAndEndsLaterRequestsAtOnce) {
  const auto reactor = std::make_shared<Reactor>(CurlTransportOptions{}, 4);
  reactor->RunAt(SystemClock().Monotonic(), [] {});
  reactor->Stop();
  reactor->Stop();
  Pending pending;
  reactor->Submit(pending.Make(Request{}));
  EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kCancelled);
}

TEST(Reactor, StopWithoutAnyRequestStartsNothing) {
  const auto reactor = std::make_shared<Reactor>(CurlTransportOptions{}, 4);
  reactor->Stop();
  bool ran = false;
  reactor->RunAt(SystemClock().Monotonic(), [&] { ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_EQ(reactor.use_count(), 1);  // no thread holds it
}

TEST(Reactor, TasksRunAtStopMayStartRequestsThatEndCancelled) {
  const auto reactor = std::make_shared<Reactor>(CurlTransportOptions{}, 4);
  Pending pending;
  reactor->RunAt(SystemClock().Monotonic() + std::chrono::hours(1),
                 [&] { reactor->Submit(pending.Make(Request{})); });
  reactor->Stop();
  EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kCancelled);
}

// 20 idle connections were open after seven idle seconds: only the next request looked at their age.
TEST(Reactor, IdleConnectionsAreClosedWithoutAnotherRequest) {
  for (const DataPlane plane : {DataPlane::kDirect, DataPlane::kCurl}) {
    std::promise<void> closed;
    RawServer server([&](RawConnection& connection) {
      connection.ReadHead();
      connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      connection.WaitForClose();
      closed.set_value();
    });
    const auto reactor = std::make_shared<Reactor>(CurlTransportOptions{.plane = plane, .max_idle_age = std::chrono::seconds(0)}, 4);
    Pending pending;
    reactor->Submit(pending.Make(server.Get()));
    ASSERT_TRUE(pending.Wait().ok());
    EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready) << static_cast<int>(plane);
    reactor->Stop();
  }
}

TEST(Reactor, ParkStopsTheThreadAndCompletesNothing) {
  std::promise<void> asked;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    asked.set_value();
    connection.WaitForClose();
  });
  auto reactor = std::make_shared<Reactor>(CurlTransportOptions{}, 4);
  bool completed = false;
  Collector sink;
  auto transfer = std::make_shared<Transfer>();
  transfer->request = server.Get();
  transfer->response_body = &sink;
  transfer->done = [&](Result<Outcome>) { completed = true; };
  reactor->Submit(std::move(transfer));
  asked.get_future().wait();
  reactor->Park(std::chrono::seconds(10));
  EXPECT_EQ(reactor.use_count(), 1);  // the thread is gone
  EXPECT_FALSE(completed);
}

TEST(Reactor, ParkGivesUpOnAThreadThatIsStuck) {
  const auto reactor = std::make_shared<Reactor>(CurlTransportOptions{}, 4);
  std::promise<void> running;
  std::promise<void> release;
  reactor->RunAt(SystemClock().Monotonic(), [&] {
    running.set_value();
    release.get_future().wait();
  });
  running.get_future().wait();
  reactor->Park(std::chrono::milliseconds(1));
  EXPECT_GT(reactor.use_count(), 1);
  release.set_value();
  reactor->Stop();
  EXPECT_EQ(reactor.use_count(), 1);
}

}  // namespace
}  // namespace penstock::http
