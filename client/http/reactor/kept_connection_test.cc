// When a connection is used for the next request, and when a request is sent again.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "client/http/body_for_test.h"
#include "client/http/call_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/http_transport.h"

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

// Responds to the first request of its first connection, reads the second completely and closes the
// connection. Later connections get responses.
class DyingServer {
 public:
  // Returns the result of a request that meets this on a kept connection.
  Result<Outcome> Send(const std::string& method, RequestBody* body) {
    const std::shared_ptr<Transport> transport = MakeHttpTransport({.io_threads = 1});
    EXPECT_TRUE(Call().Start(*transport, server_.Get("/first")).Wait().ok());
    Request request = server_.Get("/second");
    request.method = method;
    Discard discard;
    std::promise<Result<Outcome>> promise;
    transport->Start(std::move(request), body, &discard, {In(std::chrono::seconds(30)), {}},
                     [&](Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
    Result<Outcome> result = promise.get_future().get();
    reported_ = discard.connections;
    return result;
  }

  int seen() const { return seen_; }          // number of times the second request arrived
  int reported() const { return reported_; }  // number of connections reported for it

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
  int reported_ = 0;
  RawServer server_{[this](RawConnection& connection) { Serve(connection); }};
};

// Regression test: a repeated conditional upload was rejected because of the effect of its first
// attempt, which the retry policy did not know about.
TEST(KeptConnection, SendsRequestsThatMayHaveBeenProcessedOnce) {
  TextBody five("hello");
  TextBody none("");
  const struct {
    const char* method;
    RequestBody* body;
  } cases[] = {{"PUT", &five},  {"PUT", &none},    {"PUT", nullptr},
               {"POST", &five}, {"POST", nullptr}, {"DELETE", nullptr}};
  for (const auto& [method, body] : cases) {
    DyingServer server;
    const Result<Outcome> result = server.Send(method, body);
    ASSERT_FALSE(result.ok()) << method;
    EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
    EXPECT_NE(result.error().message.find("was lost before a response"), std::string::npos)
        << result.error().message;
    EXPECT_EQ(server.seen(), 1) << method;
    EXPECT_GT(server.reported(), 0) << "otherwise the retry policy assumes that it was never sent";
  }
}

TEST(KeptConnection, RepeatsReads) {
  for (const char* method : {"GET", "HEAD"}) {
    DyingServer server;
    const Result<Outcome> result = server.Send(method, nullptr);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(server.seen(), 2) << method;
  }
}

// RFC 9112 section 9.2: bytes on an idle connection are not a response to a later request.
TEST(KeptConnection, BytesOnAnIdleConnectionAreNotAResponse) {
  std::promise<void> received;
  std::promise<void> sent;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (connection.index() != 0) return;
    received.get_future().wait();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    sent.set_value();
    connection.ReadHead();
  });
  const std::shared_ptr<Transport> transport = MakeHttpTransport({.io_threads = 1});
  ASSERT_TRUE(Call().Start(*transport, server.Get("/first")).Wait().ok());
  received.set_value();
  sent.get_future().wait();
  const Result<Outcome> second = Call().Start(*transport, server.Get("/second")).Wait();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->body_bytes, 2u);
  EXPECT_FALSE(second->connection_reused);
}

TEST(KeptConnection, RepeatsAnUploadWhoseBodyWasNotSent) {
  std::string arrived;
  RawServer server([&arrived](RawConnection& connection) {
    const char* const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    connection.ReadHead();
    if (connection.index() == 0) {
      connection.Send(ok);
      connection.ReadHead();  // the client waits for 100 Continue
      return;
    }
    connection.Send("HTTP/1.1 100 Continue\r\n\r\n");
    arrived = connection.ReadBody(5);
    connection.Send(ok);
  });
  const std::shared_ptr<Transport> transport =
      MakeHttpTransport({.io_threads = 1,
                         .expect_continue_from_bytes = 1,
                         .expect_continue_timeout = std::chrono::seconds(30)});
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

// A PUT of 32 MiB, more than the socket buffers hold, that gets its response before its body.
// Parameter: whether the client waits for 100 Continue first.
class EarlyResponse : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kSize = 32 << 20;
  static constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

  Result<Outcome> Put(const RawServer& server, std::string& text) {
    const auto body = std::make_unique<TextBody>(std::string(kSize, 'u'));  // ends with the request
    Request request = server.Get("/put");
    request.method = "PUT";
    Call call;
    Result<Outcome> result =
        call.Start(*transport_, request, body.get(), In(std::chrono::seconds(20))).Wait();
    text = call.body.text;
    return result;
  }
  Result<Outcome> Get(const RawServer& server) {
    return Call()
        .Start(*transport_, server.Get("/get"), nullptr, In(std::chrono::seconds(20)))
        .Wait();
  }

  const std::shared_ptr<Transport> transport_ =
      MakeHttpTransport({.io_threads = 1,
                         .expect_continue_from_bytes = GetParam() ? 1 : UINT64_MAX,
                         .expect_continue_timeout = std::chrono::seconds(30)});
};

INSTANTIATE_TEST_SUITE_P(Uploads, EarlyResponse, ::testing::Bool(),
                         [](const auto& expects) { return expects.param ? "Expects" : "Sends"; });

// RFC 9112 sections 9.3 and 9.6. The server never reads the body, so an upload that went on could
// not end.
TEST_P(EarlyResponse, EndsTheUploadAndItsConnection) {
  for (const std::string status : {"200 OK", "204 No Content", "403 Forbidden", "503 Slow Down"}) {
    std::promise<void> done;
    const std::shared_future<void> released = done.get_future().share();
    const std::string body = status.starts_with("204") ? "" : "no";
    const std::string response = "HTTP/1.1 " + status + "\r\n" +
                                 (body.empty() ? "" : "Content-Length: 2\r\n") + "\r\n" + body;
    RawServer server([&](RawConnection& connection) {
      connection.ReadHead();
      connection.Send(connection.index() == 0 ? response : kOk);
      released.wait();
    });
    std::string text;
    const Result<Outcome> put = Put(server, text);
    const Result<Outcome> get = Get(server);
    done.set_value();
    ASSERT_TRUE(put.ok()) << status << ": " << put.error().message;
    EXPECT_EQ(std::to_string(put->head.status), status.substr(0, 3));
    EXPECT_EQ(text, body);
    EXPECT_LT(put->sent_bytes, kSize);
    ASSERT_TRUE(get.ok()) << status << ": " << get.error().message;
    EXPECT_FALSE(get->connection_reused) << status;
  }
}

TEST_P(EarlyResponse, WithAChunkedBodyEndsItsConnection) {
  RawServer server([&](RawConnection& connection) {
    while (const auto head = connection.ReadHead()) {
      const bool put = head->starts_with("PUT");
      connection.Send(
          put ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" : kOk);
      if (put) connection.ReadBody(kSize);
    }
  });
  std::string text;
  const Result<Outcome> put = Put(server, text);
  ASSERT_TRUE(put.ok()) << put.error().message;
  EXPECT_EQ(text, "ok");
  const Result<Outcome> get = Get(server);
  ASSERT_TRUE(get.ok()) << get.error().message;
  EXPECT_FALSE(get->connection_reused);
  const Result<Outcome> next = Get(server);
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_TRUE(next->connection_reused);
}

TEST_P(EarlyResponse, ThatIsInterimKeepsTheConnection) {
  RawServer server([&](RawConnection& connection) {
    while (const auto head = connection.ReadHead()) {
      if (head->starts_with("PUT")) {
        connection.Send("HTTP/1.1 100 Continue\r\n\r\n");
        connection.ReadBody(kSize);
      }
      connection.Send(kOk);
    }
  });
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const Result<Outcome> put = Put(server, text);
    ASSERT_TRUE(put.ok()) << put.error().message;
    EXPECT_EQ(put->sent_bytes, kSize);
    EXPECT_TRUE(Get(server).ok());
  }
  EXPECT_EQ(server.connections(), 1);
}

// RFC 9110 section 10.1.1: the client repeats the request without Expect.
TEST_P(EarlyResponse, ThatRefusesExpectEndsItsConnection) {
  RawServer server([&](RawConnection& connection) {
    while (const auto head = connection.ReadHead()) {
      const bool expects = head->find("Expect:") != std::string::npos;
      if (expects) connection.Send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
      if (head->starts_with("PUT")) connection.ReadBody(kSize);
      if (!expects) connection.Send(kOk);
    }
  });
  std::string text;
  const Result<Outcome> put = Put(server, text);
  ASSERT_TRUE(put.ok()) << put.error().message;
  EXPECT_EQ(put->head.status, 200);
  EXPECT_EQ(put->sent_bytes, kSize);
  EXPECT_EQ(text, "ok");
  EXPECT_EQ(server.connections(), GetParam() ? 2 : 1);
}

}  // namespace
}  // namespace penstock::http
