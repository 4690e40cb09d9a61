// The byte rate of a client, through the transport.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/http/byte_rate.h"
#include "client/http/call_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/http_transport.h"

namespace penstock::http {
namespace {

constexpr std::size_t kBodyBytes = 60'000;
constexpr std::uint64_t kBytesPerSecond = 400'000;
// A slice may be ahead of the rate, and the first 20 ms are free.
constexpr double kMinSeconds = (kBodyBytes - 8'000.0) / kBytesPerSecond - 0.02;

double SecondsSince(MonotonicTime begin) {
  return std::chrono::duration<double>(SystemClock().Monotonic() - begin).count();
}

class ByteRateTransportTest : public ::testing::Test {
 protected:
  Request Limited(Request request) const {
    request.connect = settings_;
    return request;
  }

  const std::shared_ptr<ConnectSettings> settings_ = [] {
    auto settings = std::make_shared<ConnectSettings>();
    settings->rate = std::make_shared<ByteRate>(kBytesPerSecond);
    return settings;
  }();
  const std::shared_ptr<Transport> transport_ = MakeHttpTransport({.io_threads = 1});
};

TEST_F(ByteRateTransportTest, ConnectionsShareTheRateOfReceivedBytes) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + std::string(20'000, 'x'));
    connection.WaitForClose();
  });
  const MonotonicTime begin = SystemClock().Monotonic();
  std::vector<Call> calls(3);
  for (Call& call : calls) call.Start(*transport_, Limited(server.Get()));
  for (Call& call : calls) {
    ASSERT_TRUE(call.Wait().ok());
    EXPECT_EQ(call.body.text, std::string(20'000, 'x'));
  }
  EXPECT_GE(SecondsSince(begin), kMinSeconds);
}

TEST_F(ByteRateTransportTest, SmallResponsesCountToo) {
  RawServer server([](RawConnection& connection) {
    while (connection.ReadHead())
      connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n" + std::string(6'000, 'x'));
  });
  const MonotonicTime begin = SystemClock().Monotonic();
  for (int i = 0; i < 10; ++i) {
    Call call;
    ASSERT_TRUE(call.Start(*transport_, Limited(server.Get())).Wait().ok());
    EXPECT_EQ(call.body.text.size(), 6'000u);
  }
  EXPECT_GE(SecondsSince(begin), kMinSeconds);
}

TEST_F(ByteRateTransportTest, BodiesAreSentAtTheRate) {
  std::string received;
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    received = connection.ReadBody(kBodyBytes);
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    connection.WaitForClose();
  });
  const std::string text(kBodyBytes, 'y');
  TextBody body(text);
  Request request = Limited(server.Get());
  request.method = "PUT";
  const MonotonicTime begin = SystemClock().Monotonic();
  Call call;
  ASSERT_TRUE(call.Start(*transport_, std::move(request), &body).Wait().ok());
  EXPECT_GE(SecondsSince(begin), kMinSeconds);
  EXPECT_EQ(received, text);
}

// Records the bodies whose pieces the I/O thread takes, in order.
class RecordedBody final : public RequestBody {
 public:
  RecordedBody(std::size_t id, std::size_t size, std::vector<std::size_t>& taken)
      : id_(id), text_(std::string(size, 'y')), taken_(taken) {}
  std::uint64_t size() const override { return text_.size(); }
  void Rewind() override { text_.Rewind(); }
  ByteView Next(std::size_t limit) override {
    taken_.push_back(id_);
    return text_.Next(limit);
  }

 private:
  const std::size_t id_;
  TextBody text_;
  std::vector<std::size_t>& taken_;
};

TEST_F(ByteRateTransportTest, UploadsTakeTurns) {
  constexpr std::size_t kUploads = 4;
  constexpr std::size_t kBytes = 40'000;  // five slices
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.ReadBody(kBytes);
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    connection.WaitForClose();
  });
  // Usually all uploads are connected and paused when the rate allows the first bytes.
  settings_->rate->Add(ByteRate::Direction::kSend, kBytesPerSecond / 2, SystemClock().Monotonic());
  std::vector<std::size_t> taken;
  std::vector<std::unique_ptr<RecordedBody>> bodies;
  std::vector<Call> calls(kUploads);
  for (std::size_t i = 0; i < kUploads; ++i) {
    bodies.push_back(std::make_unique<RecordedBody>(i, kBytes, taken));
    Request request = Limited(server.Get());
    request.method = "PUT";
    calls[i].Start(*transport_, std::move(request), bodies[i].get());
  }
  for (Call& call : calls) ASSERT_TRUE(call.Wait().ok());
  // Each takes its first piece before it pauses. Once the last one has, those that have more to
  // send take turns.
  auto next = taken.begin();
  for (std::set<std::size_t> begun; begun.size() < kUploads;) begun.insert(*next++);
  const std::set<std::size_t> unfinished(next, taken.end());
  ASSERT_FALSE(unfinished.empty()) << ::testing::PrintToString(taken);
  const std::set<std::size_t> in_turn(next, next + static_cast<std::ptrdiff_t>(unfinished.size()));
  EXPECT_EQ(in_turn, unfinished) << ::testing::PrintToString(taken);
}

// The pauses are longer than the idle timeout, which counts only the peer's silence.
TEST_F(ByteRateTransportTest, PausesAreNotIdleTime) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    connection.WaitForClose();
  });
  settings_->rate->Add(ByteRate::Direction::kReceive, kBytesPerSecond / 2,
                       SystemClock().Monotonic());
  Request request = Limited(server.Get());
  request.idle_timeout = std::chrono::milliseconds(100);
  Call call;
  const Result<Outcome> outcome = call.Start(*transport_, std::move(request)).Wait();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(call.body.text, "hello");
}

TEST_F(ByteRateTransportTest, PausedRequestsAreCancelled) {
  RawServer server(RawServer::Ok);
  settings_->rate->Add(ByteRate::Direction::kReceive, 60 * kBytesPerSecond,
                       SystemClock().Monotonic());
  Call call;
  call.Start(*transport_, Limited(server.Get()));
  call.stop.request_stop();
  EXPECT_EQ(call.Wait().error().kind, ErrorKind::kCancelled);
}

TEST(SharedTransportTest, ClientsWithEqualLimitsShareIt) {
  const auto first = SharedTransport(1, 2);
  EXPECT_EQ(first, SharedTransport(1, 2));
  EXPECT_NE(first, SharedTransport(1, 3));
  EXPECT_NE(first, SharedTransport(2, 2));
}

TEST(SharedTransportTest, NoMoreConnectionsThanTheLimit) {
  RawServer server([](RawConnection& connection) {
    while (connection.ReadHead()) connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto transport = SharedTransport(4, 2);
  std::vector<Call> calls(20);
  for (Call& call : calls) call.Start(*transport, server.Get());
  for (Call& call : calls) EXPECT_TRUE(call.Wait().ok());
  EXPECT_LE(server.connections(), 2);
}

}  // namespace
}  // namespace penstock::http
