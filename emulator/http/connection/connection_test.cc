// Connections as one client sees them, through a real server.
#include "emulator/http/connection/connection.h"

#include <array>
#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

// Responds with "METHOD target body" after reading the body.
void Echo(message::Exchange& exchange) {
  std::string text(exchange.request.method);
  text += " " + std::string(exchange.request.target) + " ";
  RespondWith(exchange, text + ReadBody(*exchange.body));
}

class ConnectionTest : public testing::Test {
 protected:
  // Starts a server with the test's handler; the default handler is Echo.
  void Serve(FunctionHandler::Function function, ServerOptions options = {}) {
    handler_ = std::make_unique<FunctionHandler>(std::move(function));
    server_ = StartServer(*handler_, std::move(options));
    ASSERT_NE(server_, nullptr);
  }
  TestClient Connect() { return TestClient(server_->port()); }

  std::unique_ptr<FunctionHandler> handler_;
  std::unique_ptr<Server> server_;
};

TEST_F(ConnectionTest, ServesManyRequestsOnOneConnection) {
  std::vector<std::uint64_t> before;
  Serve([&](message::Exchange& exchange) {
    before.push_back(exchange.connection.requests_before);
    Echo(exchange);
  });
  TestClient client = Connect();
  for (int i = 0; i < 20; ++i) {
    const TestResponse response =
        client.SendRequest("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "GET /" + std::to_string(i) + " ");
  }
  EXPECT_EQ(before.back(), 19u);
}

TEST_F(ConnectionTest, RespondsToPipelinedRequestsInOrder) {
  Serve(Echo);
  TestClient client = Connect();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    // A stray CRLF after a request is allowed.
    requests +=
        "PUT /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc\r\n";
    requests +=
        "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\n\r\n";
  }
  client.Send(requests);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client.Read().body, "PUT /" + std::to_string(i) + " abc");
    EXPECT_EQ(client.Read().body, "PUT /c xy");
  }
  EXPECT_TRUE(client.Silent());
}

TEST_F(ConnectionTest, AcceptsARequestByteByByte) {
  Serve(Echo);
  TestClient client = Connect();
  for (const char c :
       std::string("\r\nPUT /k HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"))
    ASSERT_TRUE(client.Send({&c, 1}));
  EXPECT_EQ(client.Read().body, "PUT /k body");
}

// Regression: a lone CR at the end of a read left the empty line before the request line.
TEST_F(ConnectionTest, AnEmptyLineThatArrivesInTwoPiecesIsIgnored) {
  Pipe pipe;
  FunctionHandler handler(Echo);
  RequestIdSource ids(1);
  std::atomic<bool> stopping{false};
  ConnectionSettings settings{
      .handler = &handler, .clock = &SystemClock(), .ids = &ids, .stopping = &stopping};
  EpollRegistration registration;
  WireConnection connection(1, std::move(pipe.stream), nullptr, registration, settings);
  ServingTools tools;
  for (const std::string piece : {"\r", "\n", "\r\nGET / HTTP/1.1\r\nHo"}) {
    pipe.peer->Send(piece);
    pollfd arrived{connection.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestTimeout.count())), 1);
    ASSERT_EQ(connection.Serve(tools, false), WireConnection::Next::kWait);
  }
  pipe.peer->Send("st: h\r\nConnection: close\r\n\r\n");
  pollfd arrived{connection.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestTimeout.count())), 1);
  EXPECT_EQ(connection.Serve(tools, false), WireConnection::Next::kClose);
  EXPECT_EQ(pipe.peer->Read().status, 200);
}

TEST_F(ConnectionTest, HandlerReceivesIdsPeerAndTime) {
  std::string request_id, host_id, peer;
  WallTime received{};
  Serve([&](message::Exchange& exchange) {
    request_id = exchange.request_id;
    host_id = exchange.host_id;
    peer = exchange.connection.peer;
    received = exchange.received;
  });
  const TestResponse response = Connect().SendRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(response.Find("x-amz-request-id"), request_id);
  EXPECT_EQ(response.Find("x-amz-id-2"), host_id);
  EXPECT_EQ(request_id.size(), 16u);
  EXPECT_EQ(peer.substr(0, 10), "127.0.0.1:");
  EXPECT_GT(received, WallTime{});
}

TEST_F(ConnectionTest, RefusesAMalformedHeadWithADocumentAndCloses) {
  Serve(Echo);
  for (const std::string head :
       {"GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        "\x16\x03\x01\r\n\r\n"}) {
    TestClient client = Connect();
    const TestResponse response = client.SendRequest(head);
    EXPECT_EQ(response.status, 400) << head;
    EXPECT_NE(response.body.find("<Code>BadRequest</Code>"), std::string::npos) << head;
    EXPECT_EQ(response.Find("Connection"), "close");
    EXPECT_EQ(response.Find("x-amz-request-id")->size(), 16u);
    client.EndSending();
    EXPECT_TRUE(client.EndsOrderly()) << head;
  }
}

TEST_F(ConnectionTest, RefusesAHeadOverTheLimitBeforeItEnds) {
  ServerOptions options;
  options.max_head_bytes = 2048;
  Serve(Echo, options);
  TestClient client = Connect();
  const TestResponse response =
      client.SendRequest("GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(20'000, 'a'));
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("<Code>RequestHeaderSectionTooLarge</Code>"), std::string::npos);
  EXPECT_NE(response.body.find("<MaxSizeAllowed>2048</MaxSizeAllowed>"), std::string::npos);
}

TEST_F(ConnectionTest, ClosesWhenTheClientRequestsIt) {
  Serve(Echo);
  TestClient client = Connect();
  const TestResponse response =
      client.SendRequest("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n");
  EXPECT_EQ(response.Find("Connection"), "close");
  EXPECT_TRUE(client.EndsOrderly());
  TestClient old = Connect();
  EXPECT_EQ(old.SendRequest("GET / HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_TRUE(old.EndsOrderly());
  TestClient kept = Connect();
  EXPECT_EQ(kept.SendRequest("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").Find("Connection"),
            "keep-alive");
  EXPECT_EQ(kept.SendRequest("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").status, 200);
}

TEST_F(ConnectionTest, ClosesWhenTheHandlerRequestsIt) {
  Serve([](message::Exchange& exchange) {
    if (exchange.request.target == "/header")
      exchange.response.headers.emplace_back("Connection", "Close");
    exchange.response.close = exchange.request.target == "/field";
  });
  for (const std::string target : {"/header", "/field"}) {
    TestClient client = Connect();
    EXPECT_EQ(
        client.SendRequest("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n").Find("Connection"),
        "close");
    EXPECT_TRUE(client.EndsOrderly());
  }
}

TEST_F(ConnectionTest, SendsContinueOnlyWhenTheHandlerReads) {
  Serve([](message::Exchange& exchange) {
    if (exchange.request.target == "/refused") {
      exchange.response.status = 403;
    } else {
      Echo(exchange);
    }
  });
  TestClient client = Connect();
  const std::string rest =
      " HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  EXPECT_EQ(client.SendRequest("PUT /k" + rest).status_line, "HTTP/1.1 100 Continue");
  EXPECT_EQ(client.SendRequest("body").body, "PUT /k body");
  const TestResponse refused = client.SendRequest("PUT /refused" + rest);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.Find("Connection"), "close");
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(ConnectionTest, EarlyResponseKeepsAConnectionWithASmallBody) {
  Serve([](message::Exchange& exchange) {
    RespondWith(exchange, std::string(exchange.request.method));
  });
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /").body,
            "PUT");
  EXPECT_EQ(client
                .SendRequest("DELETE /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
                             "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
                .body,
            "DELETE");
  // The response does not wait for the rest of a small body.
  EXPECT_EQ(client.SendRequest("POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n").body,
            "POST");
  EXPECT_EQ(
      client.SendRequest(std::string(60'000, 'x') + "GET /d HTTP/1.1\r\nHost: h\r\n\r\n").body,
      "GET");
}

TEST_F(ConnectionTest, EarlyResponseToALargeBodyArrivesAndCloses) {
  Serve([](message::Exchange& exchange) { exchange.response.status = 503; });
  TestClient client = Connect();
  client.Send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000000\r\n\r\n");
  // The server reads all of it: a client that sends everything before it reads still gets the
  // response.
  EXPECT_TRUE(client.Send(std::string(20'000'000, 'x')));
  client.EndSending();
  const TestResponse response = client.Read();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.Find("Connection"), "close");
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(ConnectionTest, RespondsToHeadWithoutABody) {
  Serve([](message::Exchange& exchange) {
    exchange.response.content_length = 12345;
    exchange.response.chunked = exchange.request.target == "/error";
  });
  TestClient client = Connect();
  const TestResponse response = client.SendRequest("HEAD /k HTTP/1.1\r\nHost: h\r\n\r\n", true);
  EXPECT_EQ(response.Find("Content-Length"), "12345");
  EXPECT_EQ(
      client.SendRequest("HEAD /error HTTP/1.1\r\nHost: h\r\n\r\n", true).Find("Transfer-Encoding"),
      "chunked");
  EXPECT_EQ(client.SendRequest("HEAD /k HTTP/1.1\r\nHost: h\r\n\r\n", true).status, 200);
  EXPECT_TRUE(client.Silent());
}

TEST_F(ConnectionTest, WrongContentLengthClosesTheConnection) {
  Serve([](message::Exchange& exchange) {
    RespondWith(exchange, "short");
    exchange.response.content_length = 100;
  });
  TestClient client = Connect();
  const TestResponse response = client.SendRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(response.Find("Content-Length"), "100");
  EXPECT_EQ(response.body, "short");
  EXPECT_EQ(response.Find("Connection"), "close");
}

TEST_F(ConnectionTest, ResetAndCloseSendNoResponse) {
  Serve([](message::Exchange& exchange) {
    exchange.response.action = exchange.request.target == "/reset" ? message::WireAction::kReset
                                                                   : message::WireAction::kClose;
    RespondWith(exchange, "never seen");
  });
  TestClient reset = Connect();
  reset.Send("GET /reset HTTP/1.1\r\nHost: h\r\n\r\n");
  int error = 0;
  EXPECT_EQ(reset.ReadToEnd(&error), "");
  EXPECT_EQ(error, ECONNRESET);
  TestClient closed = Connect();
  closed.Send("GET /close HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(closed.EndsOrderly());
}

TEST_F(ConnectionTest, ThrowingHandlerGetsInternalError) {
  Serve([](message::Exchange&) { throw std::runtime_error("secret"); });
  const TestResponse response = Connect().SendRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("<Code>InternalError</Code>"), std::string::npos);
  EXPECT_EQ(response.body.find("secret"), std::string::npos);
}

TEST_F(ConnectionTest, ReportsEveryFinishedExchangeWithItsBytes) {
  std::promise<std::pair<std::uint64_t, std::uint64_t>> counted;
  std::promise<std::string> refused;
  ServerOptions options;
  options.on_finished = [&](const message::Exchange& exchange) {
    if (exchange.response.status == 200) {
      counted.set_value({exchange.bytes_in, exchange.bytes_out});
    } else {
      refused.set_value(std::to_string(exchange.response.status) + " " +
                        std::to_string(exchange.request_id.size()));
    }
  };
  Serve(
      [](message::Exchange& exchange) {
        ReadBody(*exchange.body);
        RespondWith(exchange, "12345");
      },
      options);
  TestClient client = Connect();
  client.SendRequest(
      "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  client.SendRequest("PUT / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(counted.get_future().get(), (std::pair<std::uint64_t, std::uint64_t>(3, 5)));
  EXPECT_EQ(refused.get_future().get(), "400 16");
}

TEST_F(ConnectionTest, DiscardedBytesAreNotCountedAsRead) {
  std::promise<std::uint64_t> counted;
  ServerOptions options;
  options.on_finished = [&](const message::Exchange& exchange) {
    counted.set_value(exchange.bytes_in);
  };
  Serve(
      [](message::Exchange& exchange) {
        std::array<std::byte, 3> some;
        exchange.bytes_in = exchange.body->Read(some).value();
        RespondWith(exchange, "refused");
      },
      options);
  TestClient client = Connect();
  EXPECT_EQ(client
                .SendRequest("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 30000\r\n\r\n" +
                             std::string(30'000, 'x'))
                .body,
            "refused");
  EXPECT_EQ(counted.get_future().get(), 3u);
}

// A client that has the whole response may query the journal for it at once.
TEST_F(ConnectionTest, ReportsTheEndBeforeThePeerHasTheResponse) {
  TestClient* peer = nullptr;
  std::atomic<int> shown{0};
  ServerOptions options;
  options.on_ending = [&](message::Exchange& exchange) {
    EXPECT_TRUE(peer->Silent());
    EXPECT_TRUE(exchange.whole);
    EXPECT_GE(exchange.ended, exchange.began);
    EXPECT_EQ(exchange.bytes_out, exchange.request.method == "HEAD" ? 0u : 5u);
    EXPECT_TRUE(exchange.sent_head.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_NE(exchange.sent_head.find("\r\nContent-Length: 5\r\n\r\n"), std::string::npos);
    ++shown;
  };
  Serve([](message::Exchange& exchange) { RespondWith(exchange, "12345"); }, options);
  TestClient client = Connect();
  peer = &client;
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(client.SendRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n").body, "12345");
    EXPECT_EQ(shown, 2 * i - 1);
    client.SendRequest("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", true);
    EXPECT_EQ(shown, 2 * i);
  }
}

TEST_F(ConnectionTest, TimesOutAnUnfinishedHead) {
  ServerOptions options;
  options.progress_timeout = milliseconds(50);
  Serve(Echo, options);
  TestClient client = Connect();
  client.Send("GET / HTTP/1.1\r\nHost: h\r\n");
  const TestResponse response = client.Read();  // the client sends nothing more
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("<Code>RequestTimeout</Code>"), std::string::npos);
  EXPECT_TRUE(client.EndsOrderly());
}

// Regression: a refused head was reported with the method and target of the previous request, read
// from freed memory.
TEST_F(ConnectionTest, RefusedHeadHasNoDataOfThePreviousRequest) {
  std::promise<std::string> refused;
  ServerOptions options;
  options.progress_timeout = milliseconds(50);
  options.on_finished = [&](const message::Exchange& exchange) {
    if (exchange.response.status == 200) return;
    const message::RequestHead& head = exchange.request;
    std::string all = std::string(head.method) + "," + std::string(head.target);
    for (const message::HeaderView& header : head.headers)
      all += "," + std::string(header.name) + std::string(header.value);
    refused.set_value(std::move(all));
  };
  const std::string served = "HEAD /before HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n";
  // The first head makes the buffer grow; the second never ends.
  for (const std::string& head : {"GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(100'000, 'a'),
                                  "GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(9'000, 'a')}) {
    server_.reset();  // its threads use the promise
    refused = {};
    Serve(Echo, options);
    TestClient client = Connect();
    ASSERT_EQ(client.SendRequest(served, true).status, 200);
    const TestResponse response = client.SendRequest(head);
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("<Error>"), std::string::npos) << "handled like HEAD";
    EXPECT_EQ(refused.get_future().get(), ",");
  }
}

TEST_F(ConnectionTest, SlowHeadBytesDoNotExtendTheTimeout) {
  ServerOptions options;
  options.progress_timeout = milliseconds(100);
  Serve(Echo, options);
  TestClient client = Connect();
  client.Send("GET / HTTP/1.1\r\nA: ");
  pollfd entry{client.fd(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  int sent = 0;
  while (::poll(&entry, 1, 5) == 0 && std::chrono::steady_clock::now() < end)
    sent += client.Send("a");
  EXPECT_GT(sent, 0);
  EXPECT_LT(std::chrono::steady_clock::now(), end) << "the server did not stop the slow head";
  EXPECT_NE(client.Read().body.find("<Code>RequestTimeout</Code>"), std::string::npos);
}

TEST_F(ConnectionTest, StalledBodyIsARequestTimeoutForTheHandler) {
  std::promise<std::string> seen;
  ServerOptions options;
  options.progress_timeout = milliseconds(50);
  Serve([&](message::Exchange& exchange) { seen.set_value(ReadBody(*exchange.body)); }, options);
  TestClient client = Connect();
  const TestResponse response =
      client.SendRequest("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(seen.get_future().get(), "error RequestTimeout");
  EXPECT_EQ(response.Find("Connection"), "close");
}

TEST_F(ConnectionTest, ClosesAnIdleConnectionWithoutAResponse) {
  ServerOptions options;
  options.idle_timeout = milliseconds(50);
  Serve(Echo, options);
  TestClient fresh = Connect();
  TestClient used = Connect();
  EXPECT_EQ(used.SendRequest("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status, 200);
  EXPECT_TRUE(fresh.EndsOrderly());
  EXPECT_TRUE(used.EndsOrderly());
}

}  // namespace
}  // namespace penstock::emulator::http
