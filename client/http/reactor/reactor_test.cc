#include "client/http/reactor/reactor.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <stdexcept>

#include "base/log/caught.h"
#include "base/testing/threads_cannot_start.h"
#include "client/http/exchange/pending_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/tls_server_for_test.h"
#include "penstock/base/blocking.h"

namespace penstock::http {
namespace {

TEST(Reactor, CountsItsRequests) {
  std::promise<void> asked;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    asked.set_value();
    connection.WaitForClose();
  });
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  EXPECT_EQ(reactor->load(), 0u);
  Pending pending;
  reactor->Submit(pending.Make(server.Get()));
  asked.get_future().wait();
  EXPECT_EQ(reactor->load(), 1u);
  reactor->Stop();
  EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(reactor->load(), 0u);
}

TEST(Reactor, StopIsIdempotentAndCancelsLaterRequests) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  ASSERT_TRUE(reactor->RunAt(SystemClock().Monotonic(), [] {}).ok());
  reactor->Stop();
  reactor->Stop();
  Pending pending;
  reactor->Submit(pending.Make(Request{}));
  EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kCancelled);
}

TEST(Reactor, StopWithoutAnyRequestStartsNothing) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  reactor->Stop();
  bool ran = false;
  const Result<void> refused = reactor->RunAt(SystemClock().Monotonic(), [&] { ran = true; });
  EXPECT_EQ(refused.error().kind, ErrorKind::kCancelled);
  EXPECT_FALSE(ran);
  EXPECT_EQ(reactor.use_count(), 1);  // no thread holds it
}

TEST(Reactor, TasksRunByStopMayStartRequestsThatAreCancelled) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  Pending pending;
  ASSERT_TRUE(reactor
                  ->RunAt(SystemClock().Monotonic() + std::chrono::hours(1),
                          [&] { reactor->Submit(pending.Make(Request{})); })
                  .ok());
  reactor->Stop();
  EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kCancelled);
}

// Regression test: a waiting task that started another wait was dropped, and its call never ended.
TEST(Reactor, TasksRunByStopCannotStartTimers) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  std::promise<bool> accepted;
  ASSERT_TRUE(
      reactor
          ->RunAt(
              SystemClock().Monotonic() + std::chrono::hours(1),
              [&] {
                accepted.set_value(
                    reactor->RunAt(SystemClock().Monotonic() + std::chrono::hours(1), [] {}).ok());
              })
          .ok());
  reactor->Stop();
  EXPECT_FALSE(accepted.get_future().get());
}

TEST(Reactor, RejectsTimersAndRequestsWhileItsThreadCannotStart) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  RawServer server(RawServer::Ok);
  {
    const penstock::testing::ThreadsCannotStart none;
    EXPECT_EQ(reactor->RunAt(SystemClock().Monotonic(), [] {}).error().kind,
              ErrorKind::kResourceExhausted);
    Pending pending;
    reactor->Submit(pending.Make(server.Get()));
    EXPECT_EQ(pending.Wait().error().kind, ErrorKind::kResourceExhausted);
  }
  Pending pending;
  reactor->Submit(pending.Make(server.Get()));
  EXPECT_TRUE(pending.Wait().ok());
  reactor->Stop();
}

TEST(Reactor, ExceptionInACompletionOrTaskAffectsNothingElse) {
  RawServer server(RawServer::Ok);
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  Pending thrower;
  const TransferPtr transfer = thrower.Make(server.Get());
  transfer->done = [](Result<Outcome>) { throw std::runtime_error("broken"); };
  const std::uint64_t before = CaughtExceptions();
  reactor->Submit(transfer);
  ASSERT_TRUE(
      reactor->RunAt(SystemClock().Monotonic(), [] { throw std::runtime_error("broken"); }).ok());
  Pending next;
  reactor->Submit(next.Make(server.Get()));
  EXPECT_TRUE(next.Wait().ok());
  reactor->Stop();
  EXPECT_EQ(CaughtExceptions(), before + 2);
}

TEST(Reactor, MarksItsThreadAsAnIoThread) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  std::promise<bool> on_io_thread;
  ASSERT_TRUE(
      reactor->RunAt(SystemClock().Monotonic(), [&] { on_io_thread.set_value(OnIoThread()); })
          .ok());
  EXPECT_TRUE(on_io_thread.get_future().get());
  reactor->Stop();
}

// Regression test: 20 idle connections stayed open for seven seconds, because only the next request
// checked their age.
TEST(Reactor, IdleConnectionsAreClosedWithoutAnotherRequest) {
  std::promise<void> closed;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    connection.WaitForClose();
    closed.set_value();
  });
  const auto reactor =
      std::make_shared<Reactor>(HttpTransportOptions{.max_idle_age = std::chrono::seconds(0)}, 4);
  Pending pending;
  reactor->Submit(pending.Make(server.Get()));
  ASSERT_TRUE(pending.Wait().ok());
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  reactor->Stop();
}

// Regression test: unrequested bytes after a response over TLS were taken for the next response.
TEST(Reactor, BytesAfterAResponseOverTlsAreNotTheNextResponse) {
  TlsServer server([&](TlsConnection& connection) {
    while (connection.ReadHead()) {
      connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      if (connection.raw().index() == 0)
        connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
      connection.Flush();
    }
  });
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  for (int i = 0; i < 3; ++i) {
    Pending pending;
    reactor->Submit(pending.Make(server.Get()));
    const Result<Outcome> outcome = pending.Wait();
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->body_bytes, 2u) << i;
  }
  EXPECT_EQ(server.connections(), 2) << "the second connection is kept";
  reactor->Stop();
}

// At process exit, a thread that waits for a call may be joined by a destructor.
TEST(Reactor, StopForExitStopsTheThreadAndCompletesEverything) {
  std::promise<void> asked;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    asked.set_value();
    connection.WaitForClose();
  });
  auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  Pending in_flight;
  reactor->Submit(in_flight.Make(server.Get()));
  asked.get_future().wait();
  bool task_ran = false;
  ASSERT_TRUE(
      reactor->RunAt(SystemClock().Monotonic() + std::chrono::hours(1), [&] { task_ran = true; })
          .ok());
  reactor->StopForExit(std::chrono::seconds(10));
  EXPECT_EQ(reactor.use_count(), 1);  // the thread has ended
  EXPECT_EQ(in_flight.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(task_ran);
  Pending late;
  reactor->Submit(late.Make(server.Get()));
  EXPECT_EQ(late.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_FALSE(reactor->RunAt(SystemClock().Monotonic(), [] {}).ok());
}

TEST(Reactor, StopForExitDoesNotWaitForAStuckThread) {
  const auto reactor = std::make_shared<Reactor>(HttpTransportOptions{}, 4);
  std::promise<void> running;
  std::promise<void> release;
  ASSERT_TRUE(reactor
                  ->RunAt(SystemClock().Monotonic(),
                          [&] {
                            running.set_value();
                            release.get_future().wait();
                          })
                  .ok());
  running.get_future().wait();
  reactor->StopForExit(std::chrono::milliseconds(1));
  EXPECT_GT(reactor.use_count(), 1);
  release.set_value();
  reactor->Stop();
  EXPECT_EQ(reactor.use_count(), 1);
}

}  // namespace
}  // namespace penstock::http
