// Responses with a Delivery, as a client sees them on a raw socket, and the state machine by
// itself.
#include "emulator/http/sending/response_sender.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;
using Place = message::DeliveryStep::Place;
using Kind = message::DeliveryStep::Kind;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

class ResponseDeliveryTest : public testing::Test {
 protected:
  void Serve(message::Delivery delivery, std::size_t body_bytes = 1'000, bool file = false,
             bool chunked = false) {
    delivery_ = std::move(delivery);
    body_ = PatternText(body_bytes);
    file_ = file;
    chunked_ = chunked;
    ServerOptions options;
    options.min_threads = options.max_threads = 1;
    options.on_finished = [this](const message::Exchange& exchange) {
      const std::lock_guard lock(mutex_);
      sent_ = exchange.bytes_out;
      whole_ = exchange.whole;
      ++finished_;
    };
    server_ = StartServer(handler_, options);
    ASSERT_NE(server_, nullptr);
  }
  void Stop() { server_->Stop(milliseconds(0)); }
  bool whole() {
    const std::lock_guard lock(mutex_);
    return whole_;
  }
  TestClient Connect() const { return TestClient(server_->port()); }
  void StopWithGrace(milliseconds grace) { server_->Stop(grace); }
  std::uint64_t BodyBytesSent() {
    AwaitFinished(1);
    const std::lock_guard lock(mutex_);
    return sent_;
  }
  void AwaitFinished(int count) {
    const auto end = std::chrono::steady_clock::now() + kTestTimeout;
    while (std::chrono::steady_clock::now() < end) {
      {
        const std::lock_guard lock(mutex_);
        if (finished_ >= count) return;
      }
      ::poll(nullptr, 0, 1);
    }
    ADD_FAILURE() << "the request never ended";
  }
  message::DeliveryStep Step(Place place, std::uint64_t offset, Kind kind, milliseconds wait = {}) {
    return {
        .place = place, .offset = offset, .kind = kind, .wait = wait, .done = [this] { ++done_; }};
  }

  std::string body_;
  std::atomic<int> done_{0};

 private:
  void Respond(message::Exchange& exchange) {
    if (exchange.request.target == "/plain") return RespondWith(exchange, "plain");
    if (file_) {
      exchange.response.body = ContentOf(std::make_shared<FileBlob>(body_));
    } else {
      exchange.response.body = body_;
    }
    exchange.response.chunked = chunked_;
    if (exchange.request.target == "/at-once") return;
    exchange.response.delivery = std::make_unique<message::Delivery>(delivery_);
  }

  message::Delivery delivery_;
  bool file_ = false;
  bool chunked_ = false;
  FunctionHandler handler_{[this](message::Exchange& exchange) { Respond(exchange); }};
  std::mutex mutex_;
  std::uint64_t sent_ = 0;
  bool whole_ = false;
  int finished_ = 0;
  std::unique_ptr<Server> server_;
};

TEST_F(ResponseDeliveryTest, WithoutStepsItIsAPlainResponse) {
  Serve({});
  TestClient client = Connect();
  for (int round = 0; round < 3; ++round) EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_EQ(BodyBytesSent(), 1'000U);
}

TEST_F(ResponseDeliveryTest, SendsEmptyBodiesAndHeadResponses) {
  Serve({.piece = 10, .piece_every = milliseconds(1)}, 0);
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).status, 200);
  EXPECT_EQ(client.SendRequest("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", true).status, 200);
  EXPECT_EQ(client.SendRequest(kGet).status, 200);
}

TEST_F(ResponseDeliveryTest, PausesWithoutOccupyingAThread) {
  Serve({.steps = {Step(Place::kHead, 0, Kind::kWait, milliseconds(60)),
                   Step(Place::kBody, 400, Kind::kWait, milliseconds(60))}});
  TestClient slow = Connect();
  const auto begin = std::chrono::steady_clock::now();
  slow.Send(kGet);
  EXPECT_EQ(Connect().SendRequest("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n").body, "plain")
      << "one thread must serve both";
  EXPECT_EQ(slow.Read().body, body_);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(120));
  EXPECT_EQ(done_, 2);
  EXPECT_EQ(slow.SendRequest("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n").body, "plain")
      << "the connection must remain usable";
}

TEST_F(ResponseDeliveryTest, ResetsBeforeTheFirstByte) {
  Serve({.steps = {Step(Place::kHead, 0, Kind::kReset)}});
  TestClient client = Connect();
  client.Send(kGet);
  int error = 0;
  EXPECT_EQ(client.ReadToEnd(&error), "");
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_EQ(BodyBytesSent(), 0U);
  EXPECT_EQ(done_, 1);
}

TEST_F(ResponseDeliveryTest, ResetsInTheMiddleOfABody) {
  for (const bool file : {false, true}) {
    Serve({.steps = {Step(Place::kBody, 700, Kind::kReset)}}, 100'000, file);
    TestClient client = Connect();
    client.Send(kGet);
    int error = 0;
    const std::string arrived = client.ReadToEnd(&error);
    EXPECT_EQ(error, ECONNRESET);
    const std::size_t body = arrived.find("\r\n\r\n") + 4;
    EXPECT_EQ(arrived.substr(body), body_.substr(0, 700));
    EXPECT_EQ(BodyBytesSent(), 700U);
  }
}

TEST_F(ResponseDeliveryTest, EndsInTheMiddleWithFin) {
  Serve({.steps = {Step(Place::kBody, 700, Kind::kFin)}});
  TestClient client = Connect();
  const TestResponse response = client.SendRequest(kGet);
  EXPECT_EQ(response.Find("Content-Length"), "1000");
  EXPECT_EQ(response.body, body_.substr(0, 700));
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(ResponseDeliveryTest, OffsetZeroIsAfterTheHead) {
  Serve({.steps = {Step(Place::kBody, 0, Kind::kFin)}});
  TestClient client = Connect();
  const TestResponse response = client.SendRequest(kGet);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
}

TEST_F(ResponseDeliveryTest, IgnoresAStepAfterTheEndOfTheBody) {
  Serve({.steps = {Step(Place::kBody, 1'001, Kind::kReset)}});
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_EQ(done_, 0);
}

TEST_F(ResponseDeliveryTest, TrailerStepOmitsTheLastChunk) {
  Serve({.steps = {Step(Place::kTrailer, 0, Kind::kFin)}}, 1'000, false, true);
  TestClient client = Connect();
  client.Send(kGet);
  const std::string arrived = client.ReadToEnd();
  EXPECT_TRUE(arrived.ends_with("\r\n3e8\r\n" + body_)) << "no chunk of size zero";
}

TEST_F(ResponseDeliveryTest, ChunksAreCompleteWithoutAFault) {
  Serve({.steps = {Step(Place::kTrailer, 0, Kind::kWait, milliseconds(1))}}, 1'000, true, true);
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
}

TEST_F(ResponseDeliveryTest, MayCloseAfterACompleteResponse) {
  Serve({.steps = {Step(Place::kEnd, 0, Kind::kFin)}});
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_TRUE(client.EndsOrderly());
}

TEST_F(ResponseDeliveryTest, HalfClosedConnectionStillReceivesBytes) {
  Serve({.steps = {Step(Place::kBody, 10, Kind::kHalfClose, milliseconds(20'000))}});
  TestClient client = Connect();
  client.Send(kGet);
  EXPECT_TRUE(client.ReadToEnd().ends_with("\r\n\r\n" + body_.substr(0, 10)));
  AwaitFinished(1);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(client.Send("more")) << "a closed socket would respond with RST";
    ::poll(nullptr, 0, 1);
  }
  EXPECT_EQ(done_, 1);
}

TEST_F(ResponseDeliveryTest, SendsInPiecesWithPauses) {
  Serve({.piece = 300, .piece_every = milliseconds(20)}, 1'000, true);
  TestClient client = Connect();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(60))
      << "300, 300, 300, 100: three pauses";
}

TEST_F(ResponseDeliveryTest, FullSocketOccupiesNoThread) {
  Serve({.steps = {Step(Place::kBody, 1, Kind::kWait, milliseconds(1))}}, 16 << 20, true);
  TestClient stalled = Connect();
  stalled.Send(kGet);
  EXPECT_EQ(Connect().SendRequest("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n").body, "plain");
  EXPECT_EQ(stalled.Read().body, body_) << "nothing may be lost once the client reads";
}

// Returns a pace of `rate` bytes per second, from the first piece on.
std::function<MonotonicTime(std::uint64_t, MonotonicTime)> Rate(double rate) {
  return [rate, at = MonotonicTime()](std::uint64_t bytes, MonotonicTime now) mutable {
    const std::chrono::duration<double> time(static_cast<double>(bytes) / rate);
    return at = std::max(at, now) + std::chrono::duration_cast<MonotonicTime::duration>(time);
  };
}

TEST_F(ResponseDeliveryTest, RateAppliesFromTheFirstByte) {
  Serve({.piece = 4 << 10, .pace = Rate(1 << 20)}, 64 << 10, true);
  TestClient client = Connect();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(62));
}

// Regression: of 64 responses that were due at the same time, each got its first byte only after
// megabytes of the previous one.
TEST_F(ResponseDeliveryTest, HeadDoesNotWaitForThePace) {
  std::atomic<bool> asked{false};
  Serve({.piece = 1 << 20,
         .pace =
             [&asked](std::uint64_t, MonotonicTime now) {
               asked = true;
               return now + std::chrono::hours(1);
             }},
        100'000);
  TestClient client = Connect();
  client.Send(kGet);
  EXPECT_EQ(client.Read(/*to_head=*/true).status, 200);
  Stop();
  EXPECT_TRUE(asked);
}

TEST_F(ResponseDeliveryTest, PaceEndsWithItsResponse) {
  Serve({.piece = 64 << 10, .pace = Rate(8 << 20)}, 2 << 20, true);
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(client.SendRequest("GET /at-once HTTP/1.1\r\nHost: h\r\n\r\n").body, body_);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1'500))
      << "the old pace would need two seconds";
}

TEST_F(ResponseDeliveryTest, RstDoesNotDiscardSentBytes) {
  for (const std::uint64_t offset : {std::uint64_t{1} << 20, (std::uint64_t{8} << 20) - 1}) {
    for (const bool file : {false, true}) {
      done_ = 0;
      Serve({.steps = {Step(Place::kBody, offset, Kind::kReset)}}, 8 << 20, file);
      TestClient client = Connect();
      client.Send(kGet);
      int error = 0;
      const std::string arrived = client.ReadToEnd(&error);
      EXPECT_EQ(error, ECONNRESET);
      const std::size_t body = arrived.find("\r\n\r\n") + 4;
      EXPECT_EQ(arrived.size() - body, offset);
      EXPECT_TRUE(std::string_view(arrived).substr(body) ==
                  std::string_view(body_).substr(0, offset));
      EXPECT_EQ(done_, 1);
    }
  }
}

TEST_F(ResponseDeliveryTest, RstDoesNotWaitForAStalledPeer) {
  Serve({.steps = {Step(Place::kBody, 1 << 20, Kind::kReset)}}, 8 << 20);
  TestClient stalled = Connect();
  const int little = 4'096;
  ASSERT_EQ(::setsockopt(stalled.fd(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
  stalled.Send(kGet);
  AwaitFinished(1);
  EXPECT_EQ(done_, 1);
  int error = 0;
  EXPECT_LT(stalled.ReadToEnd(&error).size(), 1U << 20);
  EXPECT_EQ(error, ECONNRESET);
}

TEST_F(ResponseDeliveryTest, StoppingServerAllowsAShortPause) {
  Serve({.steps = {Step(Place::kHead, 0, Kind::kWait, milliseconds(100)),
                   Step(Place::kBody, 10, Kind::kWait, milliseconds(100))}});
  TestClient client = Connect();
  client.Send(kGet);
  TestClient other = Connect();
  EXPECT_EQ(other.SendRequest("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n").body, "plain");
  std::thread stopping([this] { StopWithGrace(milliseconds(5'000)); });
  EXPECT_EQ(client.Read().body, body_);
  stopping.join();
}

TEST_F(ResponseDeliveryTest, ServesPipelinedRequestsInOrder) {
  Serve({.steps = {Step(Place::kBody, 10, Kind::kWait, milliseconds(20))}});
  TestClient client = Connect();
  client.Send(std::string(kGet) + "GET /plain HTTP/1.1\r\nHost: h\r\n\r\n" + std::string(kGet));
  EXPECT_EQ(client.Read().body, body_);
  EXPECT_EQ(client.Read().body, "plain");
  EXPECT_EQ(client.Read().body, body_);
}

TEST_F(ResponseDeliveryTest, StoppingTheServerDoesNotWaitForALongPause) {
  Serve({.steps = {Step(Place::kHead, 0, Kind::kWait, milliseconds(3'600'000))}});
  TestClient client = Connect();
  client.Send(kGet);
  TestClient other = Connect();
  EXPECT_EQ(other.SendRequest("GET /plain HTTP/1.1\r\nHost: h\r\n\r\n").body, "plain");
  Stop();
  AwaitFinished(2);
  EXPECT_EQ(BodyBytesSent(), 0U) << "the interrupted response must be reported too";
}

TEST_F(ResponseDeliveryTest, SendsEachPieceAtItsTime) {
  std::vector<std::uint64_t> asked;
  Serve({.piece = 300, .pace = [&asked](std::uint64_t bytes, MonotonicTime now) {
           asked.push_back(bytes);
           return now + milliseconds(asked.size());
         }});
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{300, 300, 300, 100}));
}

TEST_F(ResponseDeliveryTest, MayOmitTheServersOwnHeaders) {
  Serve({.without = {"Date", "x-amz-id-2"}});
  TestClient client = Connect();
  const TestResponse response = client.SendRequest(kGet);
  EXPECT_FALSE(response.Find("Date"));
  EXPECT_FALSE(response.Find("x-amz-id-2"));
  EXPECT_TRUE(response.Find("x-amz-request-id"));
}

TEST_F(ResponseDeliveryTest, CloseAfterTheLastByteIsACompleteResponse) {
  Serve({.steps = {Step(Place::kEnd, 0, Kind::kFin)}});
  TestClient client = Connect();
  EXPECT_EQ(client.SendRequest(kGet).body, body_);
  EXPECT_TRUE(client.EndsOrderly());
  EXPECT_EQ(BodyBytesSent(), body_.size());
  EXPECT_TRUE(whole());
}

TEST(DeliveryEnd, IsReportedOnlyBeforeItIsSent) {
  ResponseContext context;
  for (const bool chunked : {false, true}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1'000}, std::size_t{2'000'000}}) {
      message::Response response;
      response.body = PatternText(size);
      response.chunked = chunked;
      response.delivery = std::make_unique<message::Delivery>();
      response.delivery->steps = {{.place = Place::kEnd, .kind = Kind::kReset}};
      SendBuffers buffers;
      ResponseSender sender(response, context, buffers);
      CountingStream stream;
      std::vector<std::uint64_t> reported;
      while (sender.Resume(stream, buffers, MonotonicTime(), [&](std::uint64_t body_bytes) {
        reported.push_back(stream.taken);
        EXPECT_EQ(body_bytes, size);
      }) == ResponseSender::State::kSocketFull) {
      }
      ASSERT_EQ(reported.size(), 1u);
      EXPECT_LT(reported[0], stream.taken);
      EXPECT_LE(stream.taken - reported[0], kWholeBytes);
    }
  }
  message::Response cut;
  cut.body = PatternText(1'000);
  cut.delivery = std::make_unique<message::Delivery>();
  cut.delivery->steps = {{.place = Place::kBody, .offset = 999, .kind = Kind::kFin}};
  SendBuffers buffers;
  ResponseSender sender(cut, context, buffers);
  CountingStream stream;
  EXPECT_EQ(sender.Resume(stream, buffers, MonotonicTime(),
                          [](std::uint64_t) { ADD_FAILURE() << "before_end must not be called"; }),
            ResponseSender::State::kFin);
}

TEST(DeliveryDamage, EndsTheResponseBeforeADamagedBlock) {
  message::Response response;
  response.body =
      ContentOf(std::make_shared<DamagedBlob>(PatternText(1'000'000), 100'000, 300'000));
  response.delivery = std::make_unique<message::Delivery>();
  SendBuffers buffers;
  ResponseSender sender(response, ResponseContext(), buffers);
  CountingStream stream;
  EXPECT_EQ(sender.Resume(stream, buffers, MonotonicTime()), ResponseSender::State::kBroken);
  EXPECT_EQ(sender.result().damage, "damaged");
  EXPECT_EQ(sender.result().body_bytes, 300'000u);
  EXPECT_FALSE(sender.result().ok);
}

}  // namespace
}  // namespace penstock::emulator::http
