// Peers that stall in the middle of a request or of its response. They must not occupy threads that
// other peers need, and they lose no data when they continue.
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constexpr int kSlow = 40;                // many more than the threads of these servers
constexpr std::size_t kLarge = 200'000;  // more than a body may use in memory
constexpr std::size_t kHuge = 16 << 20;  // more than socket buffers hold

std::string Put(std::string_view target, std::size_t length) {
  return "PUT " + std::string(target) +
         " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

class SlowPeers : public testing::Test {
 protected:
  // PUT responds with its body, or its error; GET of /memory, /file or /text with kHuge bytes.
  void Serve(int max_threads, milliseconds progress_timeout = kTestTimeout,
             ServerOptions options = {}) {
    options.min_threads = 1;
    options.max_threads = max_threads;
    options.progress_timeout = progress_timeout;
    if (!options.on_finished)
      options.on_finished = [this](const message::Exchange& exchange) {
        const std::lock_guard lock(mutex_);
        if (exchange.request.method == "GET") sent_.set_value(exchange.bytes_out);
      };
    server_ = StartServer(handler_, options);
    ASSERT_NE(server_, nullptr);
  }
  TestClient Connect() const { return TestClient(server_->port()); }
  bool ServesOthers() const {
    TestClient other = Connect();
    const std::string body = PatternText(kLarge, 3);
    return other.SendRequest(Put("/", 5) + "hello").body == "hello" &&
           other.SendRequest(Put("/", kLarge) + body).body == body;
  }

  const std::string huge_ = PatternText(kHuge);
  std::mutex mutex_;
  std::condition_variable all_wait_;
  int waiting_ = 0;  // handlers of /wait that have begun; they continue when there are 2 * kSlow
  std::promise<std::uint64_t> sent_;  // by the one GET of a test
  std::unique_ptr<Server> server_;

 private:
  void Handle(message::Exchange& exchange) {
    if (exchange.request.target == "/wait") {
      exchange.wire->BeginWait();
      {
        std::unique_lock lock(mutex_);
        ++waiting_;
        all_wait_.notify_all();
        all_wait_.wait_for(lock, kTestTimeout, [this] { return waiting_ >= kSlow + kSlow; });
      }
      exchange.wire->EndWait();
    }
    if (exchange.request.method == "PUT") return RespondWith(exchange, ReadBody(*exchange.body));
    if (exchange.request.target == "/text") return RespondWith(exchange, huge_);
    exchange.response.body = exchange.request.target == "/file" ? file_ : memory_;
    exchange.response.chunked = exchange.request.target == "/chunked";
  }

  const Content memory_ = ContentOf(std::make_shared<MemoryBlob>(huge_));
  const Content file_ = ContentOf(std::make_shared<FileBlob>(huge_));
  FunctionHandler handler_{[this](message::Exchange& exchange) { Handle(exchange); }};
};

TEST_F(SlowPeers, StalledBodiesDelayNoOtherAndArriveComplete) {
  for (const int threads : {1, 4}) {
    Serve(threads);
    const std::string body = PatternText(kLarge, 5);
    std::vector<TestClient> slow;
    for (int i = 0; i < kSlow; ++i) {
      slow.push_back(Connect());
      slow.back().Send(Put("/slow", kLarge) + body.substr(0, i % 2 == 0 ? 10 : 100'000));
    }
    EXPECT_TRUE(ServesOthers()) << threads;
    for (int i = 0; i < kSlow; ++i)
      slow[static_cast<std::size_t>(i)].Send(body.substr(i % 2 == 0 ? 10 : 100'000));
    for (TestClient& client : slow) EXPECT_TRUE(client.Read().body == body) << threads;
    EXPECT_TRUE(slow.front().SendRequest(Put("/next", 3) + "abc").body == "abc")
        << "the connection remains usable";
  }
}

TEST_F(SlowPeers, DeliberateDelaysTakeNoThreadFromOthers) {
  Serve(4);
  const std::string body = PatternText(kLarge, 5);
  std::vector<TestClient> clients;
  const auto connect = [&] {
    for (int i = 0; i < kSlow; ++i) {
      clients.push_back(Connect());
      clients.back().Send(Put("/wait", kLarge) + body);
    }
  };
  connect();
  {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(all_wait_.wait_for(lock, kTestTimeout, [this] { return waiting_ == kSlow; }))
        << waiting_ << " of " << kSlow;
  }
  EXPECT_TRUE(ServesOthers());
  connect();
  for (TestClient& client : clients) EXPECT_TRUE(client.Read().body == body);
}

TEST_F(SlowPeers, StalledChunkedAndExpectedBodiesDelayNoOther) {
  Serve(1);
  TestClient chunked = Connect();
  chunked.Send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc");
  TestClient asked = Connect();
  const std::string_view expects =
      "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
  EXPECT_EQ(asked.SendRequest(expects).status, 100);
  EXPECT_TRUE(ServesOthers());
  EXPECT_EQ(chunked.SendRequest("de\r\n0\r\n\r\n").body, "abcde");
  EXPECT_EQ(asked.SendRequest("xyz").body, "xyz");
}

TEST_F(SlowPeers, MissingBodyTimesOutAndShortBodyIsIncomplete) {
  Serve(1, milliseconds(100));
  TestClient silent = Connect();
  silent.Send(Put("/", 1000) + "abc");
  TestClient ended = Connect();
  ended.Send(Put("/", 1000) + "abc");
  ended.EndSending();
  EXPECT_EQ(ended.Read().body, "error IncompleteBody");
  EXPECT_EQ(silent.Read().body, "error RequestTimeout");
  TestClient dripping = Connect();
  dripping.Send(Put("/", 1'000'000));
  pollfd response{dripping.fd(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while (::poll(&response, 1, 10) == 0 && std::chrono::steady_clock::now() < end)
    dripping.Send("a");
  EXPECT_EQ(dripping.Read().body, "error RequestTimeout");
}

TEST_F(SlowPeers, UnreadResponsesDelayNoOtherAndArriveComplete) {
  for (const std::string target : {"/memory", "/file", "/text", "/chunked"}) {
    sent_ = {};
    Serve(1);
    TestClient slow = Connect();
    slow.Send("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n" + Put("/next", 3) + "abc");
    EXPECT_TRUE(ServesOthers()) << target;
    EXPECT_TRUE(slow.Read().body == huge_) << target;
    EXPECT_EQ(sent_.get_future().get(), kHuge) << target;
    EXPECT_EQ(slow.Read().body, "abc") << target;
    server_.reset();
  }
}

// The event for room to write comes only after much of the socket buffer was read. For such a peer
// that takes seconds.
TEST_F(SlowPeers, SlowReaderIsNotTimedOut) {
  // On a busy machine this thread may be delayed too.
  constexpr milliseconds kTimeout{1'000};
  Serve(1, kTimeout);
  TestClient slow = Connect();
  slow.Send("GET /memory HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  std::string read;
  const auto end = std::chrono::steady_clock::now() + 3 * kTimeout;
  while (std::chrono::steady_clock::now() < end) {
    std::array<char, 4096> some;
    const ssize_t got = ::recv(slow.fd(), some.data(), some.size(), MSG_DONTWAIT);
    ASSERT_NE(got, 0);
    if (got > 0) read.append(some.data(), static_cast<std::size_t>(got));
    ::poll(nullptr, 0, 5);
  }
  read += slow.ReadToEnd();
  EXPECT_EQ(sent_.get_future().get(), kHuge);
  EXPECT_TRUE(read.ends_with(huge_));
}

TEST_F(SlowPeers, StalledReaderIsReset) {
  Serve(1, milliseconds(100));
  TestClient stalled = Connect();
  stalled.Send("GET /file HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_LT(sent_.get_future().get(), kHuge);
  int error = 0;
  stalled.ReadToEnd(&error);
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_TRUE(ServesOthers());
}

std::string Get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

void AwaitBytes(const TestClient& client) {
  pollfd arrival{client.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&arrival, 1, static_cast<int>(kTestTimeout.count())), 1);
}

TEST_F(SlowPeers, LimitsMemoryForUnreadResponses) {
  ServerOptions options;
  options.response_bytes = 2 * kHuge + kHuge / 2;
  options.on_finished = [](const message::Exchange&) {};
  Serve(4, kTestTimeout, options);
  std::vector<TestClient> unread;
  for (int i = 0; i < 2; ++i) {
    unread.push_back(Connect());
    unread.back().Send(Get("/text"));
    AwaitBytes(unread.back());
  }
  const TestResponse refused = Connect().SendRequest(Get("/text"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("<Code>SlowDown</Code>"), std::string::npos);
  EXPECT_TRUE(Connect().SendRequest(Get("/memory")).body == huge_)
      << "object contents in memory do not count";
  EXPECT_TRUE(ServesOthers());
  for (TestClient& client : unread) EXPECT_TRUE(client.Read().body == huge_);
  EXPECT_TRUE(Connect().SendRequest(Get("/text")).body == huge_) << "the memory is available again";
}

TEST_F(SlowPeers, ResponseToAWriteIsNotReplacedByAnError) {
  ServerOptions options;
  options.response_bytes = kHuge + kHuge / 4;
  Serve(4, kTestTimeout, options);
  std::vector<TestClient> unread;
  for (int i = 0; i < 2; ++i) {
    unread.push_back(Connect());
    unread.back().Send("DELETE /text HTTP/1.1\r\nHost: h\r\n\r\n");
    AwaitBytes(unread.back());
  }
  TestClient broken = Connect();
  broken.Send("DELETE /text HTTP/1.1\r\nHost: h\r\n\r\n");
  int error = 0;
  EXPECT_EQ(broken.ReadToEnd(&error), "");
  EXPECT_EQ(error, ECONNRESET);
  for (TestClient& client : unread) EXPECT_TRUE(client.Read().body == huge_);
}

TEST_F(SlowPeers, ResponseLargerThanTheLimitIsSentWhenAlone) {
  ServerOptions options;
  options.response_bytes = kHuge / 2;
  Serve(4, kTestTimeout, options);
  EXPECT_TRUE(Connect().SendRequest(Get("/text")).body == huge_);
}

// RFC 9112 section 2.2: a server ignores empty lines before a request. They do not count as one.
TEST_F(SlowPeers, EmptyLinesDoNotExtendTheIdleTimeout) {
  ServerOptions options;
  options.idle_timeout = milliseconds(200);
  Serve(1, kTestTimeout, options);
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest("\r\n\r\n" + Put("/", 3) + "abc").body, "abc");
  pollfd end{client.fd(), POLLIN, 0};
  int lines = 0;
  while (::poll(&end, 1, 20) == 0 && lines < 300) {
    client.Send("\r\n");
    ++lines;
  }
  EXPECT_LT(lines, 300) << "6 s without a request";
}

TEST_F(SlowPeers, RefusedPeersThatStayConnectedDelayNoOther) {
  Serve(1);
  std::vector<TestClient> stay;
  for (int i = 0; i < kSlow; ++i) {
    stay.push_back(Connect());
    stay.back().Send("NONSENSE\r\n\r\nand more");
  }
  EXPECT_TRUE(ServesOthers());
  for (TestClient& client : stay) EXPECT_EQ(client.Read().status, 400);
}

TEST_F(SlowPeers, StopWaitsForSlowPeersUpToTheGrace) {
  Serve(1);
  TestClient half = Connect();
  half.Send(Put("/", 10) + "01234");
  TestClient stalled = Connect();
  stalled.Send("GET /file HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(ServesOthers());
  std::jthread stopper([&] { server_->Stop(kTestTimeout); });
  half.Send("56789");
  EXPECT_EQ(half.Read().body, "0123456789");
  EXPECT_TRUE(stalled.Read().body == huge_);
  stopper.join();
  server_.reset();
  Serve(1);
  sent_ = {};
  TestClient never = Connect();
  never.Send(Put("/", 10) + "01234");
  TestClient unread = Connect();
  unread.Send("GET /file HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(ServesOthers());
  server_->Stop(milliseconds(20));
  EXPECT_LT(sent_.get_future().get(), kHuge);
}

}  // namespace
}  // namespace penstock::emulator::http
