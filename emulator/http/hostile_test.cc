// Malicious or broken clients. Each attack ends in a clear error or a closed connection, in bounded
// time and memory, while a well-behaved client is served.
#include <algorithm>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constexpr char kSmuggled[] = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr int kAttackers = 40;

std::size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

class Hostile : public testing::Test {
 protected:
  void Serve(ServerOptions options = {}) {
    server_ = StartServer(handler_, std::move(options));
    ASSERT_NE(server_, nullptr);
  }
  static ServerOptions ShortTimeouts() {
    ServerOptions options;
    options.progress_timeout = milliseconds(300);
    return options;
  }
  TestClient Connect() { return TestClient(server_->port()); }

  // Whether a new, well-behaved client with a body is served.
  bool ServesOthers() {
    TestClient good = Connect();
    return good.SendRequest("PUT /good HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
                   .body == "hello" &&
           good.SendRequest("GET /good HTTP/1.1\r\nHost: h\r\n\r\n").status == 200;
  }
  // Whether any request for `target` reached the handler.
  bool Reached(std::string_view target) {
    const std::lock_guard lock(mutex_);
    return std::find(targets_.begin(), targets_.end(), target) != targets_.end();
  }

  std::unique_ptr<Server> server_;

 private:
  void Handle(message::Exchange& exchange) {
    {
      const std::lock_guard lock(mutex_);
      targets_.emplace_back(exchange.request.target);
    }
    const std::string body = ReadBody(*exchange.body);
    if (body.starts_with("error ")) exchange.response.status = 400;
    RespondWith(exchange, body);
  }

  std::mutex mutex_;
  std::vector<std::string> targets_;
  FunctionHandler handler_{[this](message::Exchange& exchange) { Handle(exchange); }};
};

TEST_F(Hostile, RefusesATlsHandshakeOnAPlainPortAtOnce) {
  Serve();  // with long timeouts, so that none of them ends the wait
  TestClient client = Connect();
  client.Send(std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
  const TestResponse response = client.Read();
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("plain http"), std::string::npos) << response.body;
  EXPECT_TRUE(ServesOthers());
}

TEST_F(Hostile, SlowHeadsAndBodiesDelayNoOtherClient) {
  Serve(ShortTimeouts());
  std::vector<TestClient> heads;
  std::vector<TestClient> bodies;
  for (int i = 0; i < kAttackers; ++i) {
    heads.push_back(Connect());
    heads.back().Send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ");
    bodies.push_back(Connect());
    bodies.back().Send("PUT /half HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf");
  }
  EXPECT_TRUE(ServesOthers());
  for (TestClient& client : heads)
    EXPECT_NE(client.Read().body.find("<Code>RequestTimeout</Code>"), std::string::npos);
  for (TestClient& client : bodies) EXPECT_EQ(client.Read().body, "error RequestTimeout");
}

// Regression: one byte now and then occupied a thread for ever.
TEST_F(Hostile, TimesOutABodyOfSingleSlowBytes) {
  Serve(ShortTimeouts());
  TestClient client = Connect();
  client.Send("PUT /drip HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n");
  pollfd entry{client.fd(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while (::poll(&entry, 1, 20) == 0 && std::chrono::steady_clock::now() < end) client.Send("a");
  EXPECT_LT(std::chrono::steady_clock::now(), end) << "the server did not stop the slow body";
  EXPECT_EQ(client.Read().body, "error RequestTimeout");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A sanitizer keeps freed memory for a while.
constexpr std::size_t kAllowance = std::size_t{96} << 20;
#else
constexpr std::size_t kAllowance = std::size_t{24} << 20;
#endif

TEST_F(Hostile, RefusesAMebibyteOfHeadersWithLittleMemory) {
  Serve();
  ASSERT_TRUE(ServesOthers());
  const std::size_t before = ResidentBytes();
  const std::string headers = "GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + std::string(1 << 20, 'a');
  std::vector<TestClient> clients;
  for (int i = 0; i < kAttackers; ++i) {
    clients.push_back(Connect());
    clients.back().Send(headers);
  }
  EXPECT_TRUE(ServesOthers());
  for (TestClient& client : clients) {
    const TestResponse response = client.Read();
    EXPECT_EQ(response.status, 400);
    EXPECT_NE(response.body.find("<Code>RequestHeaderSectionTooLarge</Code>"), std::string::npos);
    EXPECT_EQ(response.Find("Connection"), "close");
  }
  EXPECT_LT(ResidentBytes(), before + kAllowance) << "40 attackers sent 40 MiB";
}

TEST_F(Hostile, RefusesManySmallHeaders) {
  Serve();
  std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 2000; ++i) head += "X-" + std::to_string(i) + ": y\r\n";
  TestClient client = Connect();
  const TestResponse response = client.SendRequest(head + "\r\n" + kSmuggled);
  EXPECT_NE(response.body.find("<Code>RequestHeaderSectionTooLarge</Code>"), std::string::npos);
  client.EndSending();
  EXPECT_TRUE(client.EndsOrderly());
  EXPECT_FALSE(Reached("/smuggled"));
}

TEST_F(Hostile, ABodyShorterThanDeclaredIsIncomplete) {
  Serve();
  TestClient client = Connect();
  client.Send("PUT /short HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  client.EndSending();
  EXPECT_EQ(client.Read().body, "error IncompleteBody");
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(Hostile, RefusesBytesAfterTheDeclaredLength) {
  Serve();
  TestClient client = Connect();
  EXPECT_EQ(
      client
          .SendRequest("PUT /long HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcdefgh\r\n\r\n")
          .body,
      "abc");
  EXPECT_EQ(client.Read().status, 400);
  client.EndSending();
  EXPECT_TRUE(client.EndsOrderly());
}

// RFC 9112 section 11.2. However another hop would interpret these bytes, the server must treat
// none of those after the first request as a request.
TEST_F(Hostile, RefusesRequestSmuggling) {
  Serve();
  const std::string post = "POST /front HTTP/1.1\r\nHost: h\r\n";
  const std::vector<std::string> shapes = {
      post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
      post + "Content-Length: 4\r\nContent-Length: 40\r\n\r\nabcd",
      post + "Content-Length: 4, 4\r\n\r\nabcd",
      post + "Content-Length: +4\r\n\r\nabcd",
      post + "Content-Length: 0x4\r\n\r\nabcd",
      post + "Content-Length: -1\r\n\r\n",
      post + "Content-Length: 99999999999999999999\r\n\r\n",
      post + "Content-Length:\r\n\r\n",
      post + "Content-Length : 4\r\n\r\nabcd",
      post + "Content-Length: 4\r\n 0\r\n\r\nabcd",
      post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      post +
          "Transfer-Encoding:\x0b"
          "chunked\r\n\r\n0\r\n\r\n",
      post + "X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + std::string("X: \0\r\n\r\n", 8),
      "POST /front HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /front HTTP/1.1\r\nHost: h\r\nHost: g\r\n\r\n",
      "POST /front HTTP/1.1 \r\nHost: h\r\n\r\n",
      "POST\t/front\tHTTP/1.1\r\nHost: h\r\n\r\n",
      "POST /front\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
  };
  for (const std::string& shape : shapes) {
    TestClient client = Connect();
    const TestResponse response = client.SendRequest(shape + kSmuggled);
    EXPECT_TRUE(response.status == 400 || response.status == 501) << response.status << " for\n"
                                                                  << shape;
    EXPECT_EQ(response.Find("Connection"), "close") << shape;
    client.EndSending();
    EXPECT_TRUE(client.EndsOrderly()) << shape;
  }
  EXPECT_FALSE(Reached("/smuggled"));
  EXPECT_FALSE(Reached("/front"));
  EXPECT_TRUE(ServesOthers());
}

TEST_F(Hostile, BrokenChunksEndTheConnection) {
  Serve();
  const std::vector<std::string> bodies = {
      "0x4\r\nabcd\r\n0\r\n\r\n",
      "4_0\r\nabcd\r\n0\r\n\r\n",
      "+4\r\nabcd\r\n0\r\n\r\n",
      "-4\r\nabcd\r\n0\r\n\r\n",
      " 4\r\nabcd\r\n0\r\n\r\n",
      "4\nabcd\n0\n\n",
      "4\r\nabcdX0\r\n\r\n",
      "4\r\nabcd0\r\n\r\n",
      "10000000000000004\r\nabcd\r\n0\r\n\r\n",
      "ffffffffffffffff\r\nabcd\r\n0\r\n\r\n",
      "4;a\rb\r\nabcd\r\n0\r\n\r\n",
      "4;" + std::string(100'000, 'e') + "\r\nabcd\r\n0\r\n\r\n",
      ";x\r\nabcd\r\n0\r\n\r\n",
      "0\r\nX-Trailer : y\r\n\r\n",
      "0\r\n folded\r\n\r\n",
  };
  for (const std::string& body : bodies) {
    TestClient client = Connect();
    client.Send("POST /chunks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body +
                kSmuggled);
    client.EndSending();
    const TestResponse response = client.Read();
    EXPECT_EQ(response.status, 400) << body.substr(0, 40);
    EXPECT_EQ(response.body, "error IncompleteBody") << body.substr(0, 40);
    EXPECT_TRUE(client.EndsOrderly()) << body.substr(0, 40);
  }
  EXPECT_FALSE(Reached("/smuggled"));
}

TEST_F(Hostile, HandlesMisuseOfExpectContinue) {
  Serve(ShortTimeouts());
  TestClient eager = Connect();  // does not wait for the 100 that it requested
  TestResponse response = eager.SendRequest(
      "PUT /eager HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody");
  if (response.status == 100) response = eager.Read();
  EXPECT_EQ(response.body, "body");
  TestClient silent = Connect();  // requests a 100, receives it and sends nothing
  EXPECT_EQ(silent
                .SendRequest("PUT /silent HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: "
                             "100-continue\r\n\r\n")
                .status,
            100);
  EXPECT_TRUE(ServesOthers());
  EXPECT_EQ(silent.Read().body, "error RequestTimeout");
  TestClient other = Connect();
  EXPECT_EQ(
      other
          .SendRequest(
              "PUT /other HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 200-ok\r\n\r\nbody")
          .body,
      "body");
  TestClient nothing = Connect();  // expects a 100 without a body
  EXPECT_EQ(
      nothing.SendRequest("GET /none HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n").status,
      200);
}

TEST_F(Hostile, RefusesGarbageAfterARequest) {
  Serve();
  const std::string garbage = PatternText(200'000, 7);
  TestClient client = Connect();
  client.Send("GET /first HTTP/1.1\r\nHost: h\r\n\r\n" + garbage);
  client.EndSending();
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(client.Read().status, 400);
  EXPECT_TRUE(client.EndsOrderly());
  EXPECT_TRUE(ServesOthers());
}

TEST_F(Hostile, RandomBytesEndOnlyTheirConnection) {
  Serve(ShortTimeouts());
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    TestClient client = Connect();
    client.Send(PatternText(1 + seed * 97, seed));
    client.EndSending();
    const std::string response = client.ReadToEnd();
    EXPECT_TRUE(response.empty() || response.starts_with("HTTP/1.1 4") ||
                response.starts_with("HTTP/1.1 5"))
        << seed;
  }
  EXPECT_TRUE(ServesOthers());
}

}  // namespace
}  // namespace penstock::emulator::http
