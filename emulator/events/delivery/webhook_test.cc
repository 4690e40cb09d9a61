#include "emulator/events/delivery/webhook.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/io/descriptor.h"
#include "base/signals_blocked.h"

namespace penstock::emulator::events {
namespace {

// A server that reads requests on one connection at a time.
class Receiver {
 public:
  Receiver() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), raw, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), raw, &length), 0);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }
  void Accept() { connection_ = Descriptor(::accept(listener_.get(), nullptr, nullptr)); }
  void Close() { connection_ = Descriptor(); }

  // Returns a request with its body, or what came before the end of the connection.
  std::string Read() {
    std::string text;
    std::array<char, 4096> block{};
    for (;;) {
      const std::size_t head = text.find("\r\n\r\n");
      const std::size_t at = text.find("Content-Length: ");
      if (head != std::string::npos && at < head &&
          text.size() >= head + 4 + std::stoul(text.substr(at + 16)))
        return text;
      const ssize_t count = ::recv(connection_.get(), block.data(), block.size(), 0);
      if (count <= 0) return text;
      text.append(block.data(), static_cast<std::size_t>(count));
    }
  }
  void Write(const std::string& text) { EXPECT_TRUE(TryWrite(text)); }
  // Returns false at the end of the connection.
  bool TryWrite(const std::string& text) {
    return ::send(connection_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }

 private:
  Descriptor listener_;
  Descriptor connection_;
  int port_ = 0;
};

SinkAddress AddressOf(const Receiver& receiver, const std::string& host = "127.0.0.1") {
  return ParseSink("*=http://" + host + ":" + std::to_string(receiver.port()) + "/hook?token=t")
      .value();
}

std::unique_ptr<Sink> Webhook(const SinkAddress& address,
                              std::chrono::milliseconds limit = std::chrono::minutes(1)) {
  return MakeWebhook(address, {.ca_path = {}, .limit = limit}).value();
}

std::vector<store::StoredEvent> Event(std::uint64_t number) {
  return {{number, false, {"arn:q", "{\"number\":" + std::to_string(number) + "}"}}};
}

// Runs Send on a thread like those of the deliverer.
class Sending {
 public:
  Sending(Sink& sink, std::uint64_t number) : Sending(sink, Event(number)) {}
  Sending(Sink& sink, std::vector<store::StoredEvent> events) {
    const SignalsBlocked blocked;
    thread_ = std::thread(
        [this, &sink, events = std::move(events)] { result_ = sink.Send("space", events); });
  }
  ~Sending() {
    if (thread_.joinable()) thread_.join();
  }
  Result<void> Wait() {
    thread_.join();
    return *result_;
  }

 private:
  std::optional<Result<void>> result_;
  std::thread thread_;
};

constexpr std::chrono::milliseconds kShort{100};
constexpr char kEmpty[] = "HTTP/1.1 204 No Content\r\n\r\n";

TEST(WebhookTest, PostsTheMessageAndReusesTheConnection) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending first(*sink, 7);
  receiver.Accept();
  const std::string request = receiver.Read();
  receiver.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(first.Wait().ok());
  EXPECT_TRUE(request.starts_with("POST /hook?token=t HTTP/1.1\r\n")) << request;
  for (const std::string& header :
       {"Host: 127.0.0.1:" + std::to_string(receiver.port()),
        std::string("Content-Type: application/json"), std::string("x-penstock-destination: arn:q"),
        std::string("x-penstock-event: 7"), std::string("x-penstock-namespace: space")})
    EXPECT_NE(request.find("\r\n" + header + "\r\n"), std::string::npos) << header << request;
  EXPECT_TRUE(request.ends_with("\r\n\r\n{\"number\":7}")) << request;
  Sending second(*sink, 8);
  EXPECT_TRUE(receiver.Read().ends_with("{\"number\":8}"));  // without another Accept
  receiver.Write(kEmpty);
  EXPECT_TRUE(second.Wait().ok());
}

TEST(WebhookTest, OnlyAStatusOfSuccessAcknowledges) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  for (const char* status : {"302 Found", "404 Not Found", "503 Slow Down"}) {
    Sending sending(*sink, 1);
    receiver.Accept();
    receiver.Read();
    receiver.Write(std::string("HTTP/1.1 ") + status + "\r\nContent-Length: 0\r\n\r\n");
    const Result<void> sent = sending.Wait();
    ASSERT_FALSE(sent.ok()) << status;
    EXPECT_NE(sent.error().message.find("responded with status " + std::string(status, 3)),
              std::string::npos)
        << sent.error().message;
    EXPECT_EQ(sent.error().message.find("token"), std::string::npos) << sent.error().message;
  }
}

TEST(WebhookTest, AClosedConnectionIsNoAcknowledgement) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending sending(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Close();
  EXPECT_FALSE(sending.Wait().ok());
}

// localhost may have two addresses, of which one has no listener.
TEST(WebhookTest, TriesEveryAddressOfAName) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver, "localhost"));
  Sending sending(*sink, 1);
  receiver.Accept();
  EXPECT_NE(receiver.Read().find("Host: localhost:"), std::string::npos);
  receiver.Write(kEmpty);
  EXPECT_TRUE(sending.Wait().ok());
}

TEST(WebhookTest, AnUnknownHostIsAnError) {
  const auto sink = Webhook(ParseSink("*=http://no-such-host.invalid/").value());
  Sending sending(*sink, 1);
  const Result<void> sent = sending.Wait();
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().message.find("no-such-host.invalid"), std::string::npos);
}

TEST(WebhookTest, CancelEndsAWaitForAResponse) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending sending(*sink, 1);
  receiver.Accept();
  receiver.Read();
  sink->Cancel();
  EXPECT_FALSE(sending.Wait().ok());
  Sending again(*sink, 1);
  EXPECT_FALSE(again.Wait().ok());
}

TEST(WebhookTest, AnEndlessResponseIsCutOff) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending sending(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" +
                 std::string(100 << 10, 'x'));
  EXPECT_TRUE(sending.Wait().ok());
}

// Writes `piece` until the sink closes the connection.
Result<void> FloodedBy(const std::string& begin, const std::string& piece) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending sending(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write(begin);
  while (receiver.TryWrite(piece)) continue;
  return sending.Wait();
}

TEST(WebhookTest, AHeadOfMoreThan64KibIsNoResponse) {
  const struct {
    const char* begin;
    std::string piece;
  } kFloods[] = {
      {"HTTP/1.1 200 ", std::string(1000, 'a')},  // the reason
      {"HTTP/1.1 200 OK\r\nX-Header: ", std::string(1000, 'a')},
      {"HTTP/1.1 200 OK\r\n", "X-Header: a\r\n"},
      {"", "HTTP/1.1 100 Continue\r\n\r\n"},
  };
  for (const auto& flood : kFloods) {
    const Result<void> sent = FloodedBy(flood.begin, flood.piece);
    ASSERT_FALSE(sent.ok()) << flood.piece;
    EXPECT_NE(sent.error().message.find("sent more than 65536 bytes before the end of its headers"),
              std::string::npos)
        << sent.error().message;
  }
}

TEST(WebhookTest, WhatIsNotHttpIsNoResponse) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending sending(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  const Result<void> sent = sending.Wait();
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().message.find("not HTTP/1.1"), std::string::npos) << sent.error().message;
}

TEST(WebhookTest, TheFinalResponseCountsAfterInterimOnes) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending sending(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n");
  receiver.Write(kEmpty);
  EXPECT_TRUE(sending.Wait().ok());
}

TEST(WebhookTest, AConnectionThatTheServerClosedIsReplaced) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  Sending first(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write(kEmpty);
  EXPECT_TRUE(first.Wait().ok());
  receiver.Close();
  Sending second(*sink, 2);
  receiver.Accept();
  EXPECT_TRUE(receiver.Read().ends_with("{\"number\":2}"));
  receiver.Write(kEmpty);
  EXPECT_TRUE(second.Wait().ok());
}

// The XML of a notification configuration can have line breaks in an ARN.
TEST(WebhookTest, AnArnCannotAddHeaders) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver));
  std::vector<store::StoredEvent> events = Event(1);
  events[0].event.destination = "arn:q\r\nX-Added: 1";
  Sending sending(*sink, events);
  receiver.Accept();
  EXPECT_NE(receiver.Read().find("\r\nx-penstock-destination: arn:q??X-Added: 1\r\n"),
            std::string::npos);
  receiver.Write(kEmpty);
  EXPECT_TRUE(sending.Wait().ok());
}

TEST(WebhookTest, AHeadThatDoesNotEndIsNoResponse) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver), kShort);
  Sending first(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write("HTTP/1.1 200 OK\r\nX-Header: a");
  const Result<void> sent = first.Wait();
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().message.find("did not respond within 100 ms"), std::string::npos)
      << sent.error().message;
  receiver.Close();
  Sending second(*sink, 1);
  receiver.Accept();
  EXPECT_TRUE(receiver.Read().ends_with("{\"number\":1}"));
  receiver.Write(kEmpty);
  EXPECT_TRUE(second.Wait().ok());
}

TEST(WebhookTest, AStatusOfSuccessAcknowledgesAlsoIfTheBodyDoesNotEnd) {
  Receiver receiver;
  const auto sink = Webhook(AddressOf(receiver), kShort);
  Sending first(*sink, 1);
  receiver.Accept();
  receiver.Read();
  receiver.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin");
  EXPECT_TRUE(first.Wait().ok());
  receiver.Close();
  Sending second(*sink, 2);
  receiver.Accept();
  receiver.Read();
  receiver.Write(kEmpty);
  EXPECT_TRUE(second.Wait().ok());
}

}  // namespace
}  // namespace penstock::emulator::events
