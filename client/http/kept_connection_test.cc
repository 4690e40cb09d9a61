// A kept connection that dies under a request which the server has read: nobody below the retries may send it again.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "client/http/body_for_test.h"
#include "client/http/call_for_test.h"
#include "client/http/curl_transport.h"
#include "client/http/raw_server_for_test.h"

namespace penstock::http {
namespace {

class Discard final : public ResponseBody {
 public:
  void OnConnection(const ConnectionUse&) override { ++connections; }
  Result<void> Begin(const ResponseHead&) override { return Ok(); }
  MutableByteView Window() override { return memory_; }
  Result<void> Commit(std::size_t) override { return Ok(); }

  int connections = 0;

 private:
  std::array<std::byte, 64> memory_{};
};

// Answers the first request of its first connection, reads the second whole and hangs up; later connections get answers.
class DyingServer {
 public:
  // How a request fares that meets this on a kept connection.
  Result<Outcome> Send(DataPlane plane, const std::string& method, RequestBody* body) {
    const std::shared_ptr<Transport> transport = MakeCurlTransport({.plane = plane, .io_threads = 1});
    EXPECT_TRUE(Call().Start(*transport, server_.Get("/first")).Wait().ok());
    Request request = server_.Get("/second");
    request.method = method;
    Discard discard;
    std::promise<Result<Outcome>> promise;
    transport->Start(std::move(request), body, &discard, {In(std::chrono::seconds(30)), {}},
                     [&](Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
    Result<Outcome> result = promise.get_future().get();
    told_ = discard.connections;
    return result;
  }

  int seen() const { return seen_; }  // the second request
  int told() const { return told_; }  // connections that it was said to go out on

 private:
  void Serve(RawConnection& connection) {
    while (const auto head = connection.ReadHead()) {
      if (head->find("Content-Length: 5\r\n") != std::string::npos) connection.ReadBody(5);
      const bool second = head->find(" /second ") != std::string::npos;
      seen_ += second ? 1 : 0;
      if (second && connection.index() == 0) return;
      if (!connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) return;
    }
  }

  std::atomic<int> seen_{0};
  int told_ = 0;
  RawServer server_{[this](RawConnection& connection) { Serve(connection); }};
};

class KeptConnection : public ::testing::TestWithParam<DataPlane> {};

INSTANTIATE_TEST_SUITE_P(Planes, KeptConnection, ::testing::Values(DataPlane::kDirect, DataPlane::kCurl), PlaneName);

// The second sending of a conditional upload was refused for what the first had done, and nobody knew of the first.
TEST_P(KeptConnection, WhatMayHaveBeenDoneIsSentOnce) {
  TextBody five("hello");
  TextBody none("");
  const struct {
    const char* method;
    RequestBody* body;
  } cases[] = {{"PUT", &five}, {"PUT", &none}, {"PUT", nullptr}, {"POST", &five}, {"POST", nullptr}, {"DELETE", nullptr}};
  for (const auto& [method, body] : cases) {
    DyingServer server;
    const Result<Outcome> result = server.Send(GetParam(), method, body);
    ASSERT_FALSE(result.ok()) << method;
    EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
    EXPECT_NE(result.error().message.find("was lost before a response"), std::string::npos) << result.error().message;
    EXPECT_EQ(server.seen(), 1) << method;
    EXPECT_GT(server.told(), 0) << "the retries take it for one that was never sent";
  }
}

TEST_P(KeptConnection, WhatOnlyReadsIsSentAgain) {
  for (const char* method : {"GET", "HEAD"}) {
    DyingServer server;
    const Result<Outcome> result = server.Send(GetParam(), method, nullptr);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(server.seen(), 2) << method;
  }
}

// RFC 9112 §9.2: what comes on an idle connection is no response to a later request.
TEST_P(KeptConnection, BytesOnAnIdleConnectionAreNoResponse) {
  std::promise<void> answered;
  std::promise<void> sent;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (connection.index() != 0) return;
    answered.get_future().wait();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    sent.set_value();
    connection.ReadHead();
  });
  const std::shared_ptr<Transport> transport = MakeCurlTransport({.plane = GetParam(), .io_threads = 1});
  ASSERT_TRUE(Call().Start(*transport, server.Get("/first")).Wait().ok());
  answered.set_value();
  sent.get_future().wait();
  const Result<Outcome> second = Call().Start(*transport, server.Get("/second")).Wait();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->body_bytes, 2u);
  EXPECT_FALSE(second->connection_reused);
}

TEST(KeptConnectionOfCurl, ABodyOfWhichNothingLeftIsSentAgain) {
  std::string arrived;
  RawServer server([&arrived](RawConnection& connection) {
    const char* const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    connection.ReadHead();
    if (connection.index() == 0) {
      connection.Send(ok);
      connection.ReadHead();  // and its client waits for 100 Continue
      return;
    }
    connection.Send("HTTP/1.1 100 Continue\r\n\r\n");
    arrived = connection.ReadBody(5);
    connection.Send(ok);
  });
  const std::shared_ptr<Transport> transport = MakeCurlTransport({.plane = DataPlane::kCurl,
                                                                  .io_threads = 1,
                                                                  .expect_continue_from_bytes = 1,
                                                                  .expect_continue_patience = std::chrono::seconds(30)});
  ASSERT_TRUE(Call().Start(*transport, server.Get()).Wait().ok());
  Request request = server.Get();
  request.method = "PUT";
  TextBody body("hello");
  Call call;
  const Result<Outcome> result = call.Start(*transport, request, &body).Wait();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->sent_bytes, 5u);
  EXPECT_EQ(arrived, "hello");
}

}  // namespace
}  // namespace penstock::http
