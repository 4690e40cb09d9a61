// Bodies that end early on real sockets: the object arrives complete, resumed at the byte reached.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/auth/providers/credentials.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/http_transport.h"
#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using http::RawConnection;
using http::RawServer;

std::string Content() {
  std::string content;
  for (int i = 0; content.size() < 300'000; ++i) content += std::to_string(i) + ";";
  return content;
}

const std::string kContent = Content();
const std::size_t kHalf = kContent.size() / 2;

// The Range header of the request for the remainder.
const std::string kRangeOfRest =
    "Range: bytes=" + std::to_string(kHalf) + "-" + std::to_string(kContent.size() - 1);

std::string WholeHead() {
  return "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: " + std::to_string(kContent.size()) +
         "\r\n\r\n";
}

std::string RestHead(std::size_t first, std::size_t length) {
  return "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Length: " +
         std::to_string(length) + "\r\nContent-Range: bytes " + std::to_string(first) + "-" +
         std::to_string(first + length - 1) + "/" + std::to_string(kContent.size()) + "\r\n\r\n";
}

class AttemptLoopSockets : public ::testing::Test {
 protected:
  struct Got {
    Result<ObjectMetadata> result;
    std::string text;
    int begins = 0;
    std::vector<std::string> heads;  // Of the requests, by connection.
  };

  static ClientConfig ShortIdleTimeout() {
    ClientConfig config;
    config.max_attempts = 4;
    config.idle_timeout = std::chrono::milliseconds(1500);
    return config;
  }
  // Other timeouts than the speed floor would fire too late.
  static ClientConfig WithAFloor() {
    ClientConfig config;
    config.operation_timeout = std::chrono::seconds(20);
    config.low_speed_bytes_per_second = 1;
    config.low_speed_time = std::chrono::milliseconds(1000);
    return config;
  }

  // After the first request head of connection n, scripts[n] runs; for later connections the last
  // script.
  static Got Get(std::vector<RawServer::Script> scripts, ClientConfig config = ShortIdleTimeout()) {
    Mutex mutex;
    std::vector<std::string> heads;
    RawServer server([&](RawConnection& connection) {
      const auto head = connection.ReadHead();
      if (!head) return;
      {
        const MutexLock lock(mutex);
        heads.push_back(*head);
      }
      scripts[std::min<std::size_t>(static_cast<std::size_t>(connection.index()),
                                    scripts.size() - 1)](connection);
    });
    config.endpoint_url = "http://127.0.0.1:" + std::to_string(server.port());
    config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
    const std::shared_ptr<http::Transport> transport = http::MakeHttpTransport({});
    auto client = Client::Impl::Make(config, {[transport] { return transport; }, &SystemClock(),
                                              [] { return std::uint64_t{0}; }, EmptyEnvironment()});
    StringSink sink;
    auto result = (*client)->Call(
        GetObjectRequest{.bucket = BucketName("bucket"), .key = ObjectKey("key"), .sink = &sink});
    const MutexLock lock(mutex);
    return {std::move(result), std::move(sink.text), sink.begins, heads};
  }

  static void SendHalf(RawConnection& connection) {
    connection.Send(WholeHead() + kContent.substr(0, kHalf));
  }
  static void SendRest(RawConnection& connection) {
    connection.Send(RestHead(kHalf, kContent.size() - kHalf) + kContent.substr(kHalf));
    connection.WaitForClose();
  }

  static void ExpectResumed(const Got& got) {
    ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
    EXPECT_EQ(got.text, kContent);
    EXPECT_EQ(got.begins, 1);
    ASSERT_EQ(got.heads.size(), 2u);
    EXPECT_NE(got.heads[1].find(kRangeOfRest), std::string::npos) << got.heads[1];
    EXPECT_NE(got.heads[1].find("If-Match: \"e\""), std::string::npos);
  }
};

TEST_F(AttemptLoopSockets, StatsCountConnectionsAndTimesByOperation) {
  RawServer server([](RawConnection& connection) {
    while (connection.ReadHead()) connection.Send(WholeHead() + kContent);
  });
  ClientConfig config;
  config.endpoint_url = "http://127.0.0.1:" + std::to_string(server.port());
  config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
  const std::shared_ptr<http::Transport> transport = http::MakeHttpTransport({.io_threads = 1});
  auto client = Client::Impl::Make(config, {[transport] { return transport; }, &SystemClock(),
                                            [] { return std::uint64_t{0}; }, EmptyEnvironment()});
  std::vector<RequestEvent> events;
  (*client)->SetObserver([&events](const RequestEvent& event) { events.push_back(event); });
  for (int i = 0; i < 3; ++i) {
    StringSink sink;
    ASSERT_TRUE((*client)
                    ->Call(GetObjectRequest{
                        .bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink})
                    .ok());
  }
  const ClientStats stats = (*client)->stats();
  EXPECT_EQ(stats.connections.opened, 1u);
  EXPECT_EQ(stats.connections.reused, 2u);
  const OperationStats& gets = stats.operations.at("GetObject");
  EXPECT_EQ(gets.first_byte.count, 3u);
  EXPECT_EQ(gets.duration.count, 3u);
  EXPECT_GE(gets.duration.sum, gets.first_byte.sum);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_FALSE(events[0].connection_reused);
  EXPECT_TRUE(events[2].connection_reused);
}

TEST_F(AttemptLoopSockets, AShortBodyIsResumed) { ExpectResumed(Get({SendHalf, SendRest})); }

TEST_F(AttemptLoopSockets, AStalledBodyIsResumed) {
  ExpectResumed(Get({[](RawConnection& connection) {
                       SendHalf(connection);
                       connection.WaitForClose();
                     },
                     SendRest}));
}

// Symptom: with low_speed_limit=1_000_000, a body that stalled for 25 s took 25 s.
TEST_F(AttemptLoopSockets, AStalledBodyIsBelowAnySpeedFloor) {
  ExpectResumed(Get({[](RawConnection& connection) {
                       SendHalf(connection);
                       connection.WaitForClose();
                     },
                     SendRest},
                    WithAFloor()));
}

TEST_F(AttemptLoopSockets, AResponseThatDoesNotStartIsBelowAnySpeedFloor) {
  const Got got = Get({[](RawConnection& connection) { connection.WaitForClose(); },
                       [](RawConnection& connection) {
                         connection.Send(WholeHead() + kContent);
                         connection.WaitForClose();
                       }},
                      WithAFloor());
  ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
  EXPECT_EQ(got.text, kContent);
}

TEST_F(AttemptLoopSockets, ASilentConnectionNamesTheSpeedFloor) {
  ClientConfig config = WithAFloor();
  config.max_attempts = 1;
  const Got got = Get({[](RawConnection& connection) { connection.WaitForClose(); }}, config);
  ASSERT_FALSE(got.result.ok());
  EXPECT_EQ(got.result.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(got.result.error().setting, "low_speed_bytes_per_second");
  EXPECT_NE(got.result.error().message.find("no byte moved for 1000 ms"), std::string::npos)
      << got.result.error().message;
}

// While S3 assembles the parts it has sent 200 and sends white space: a response of a few bytes in
// minutes.
TEST_F(AttemptLoopSockets, AWriteIgnoresTheSpeedFloor) {
  const std::string document =
      "<CompleteMultipartUploadResult><ETag>&quot;x-1&quot;</ETag></CompleteMultipartUploadResult>";
  RawServer server([&document](RawConnection& connection) {
    if (!connection.ReadHead()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(document.size() + 3) +
                    "\r\n\r\n");
    for (int i = 0; i < 3; ++i) {
      connection.Send(" ");
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    connection.Send(document);
    connection.WaitForClose();
  });
  ClientConfig config;
  config.endpoint_url = "http://127.0.0.1:" + std::to_string(server.port());
  config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
  config.max_attempts = 1;
  config.low_speed_bytes_per_second = 1'000'000;
  config.low_speed_time = std::chrono::milliseconds(100);
  const std::shared_ptr<http::Transport> transport = http::MakeHttpTransport({});
  auto client = Client::Impl::Make(config, {[transport] { return transport; }, &SystemClock(),
                                            [] { return std::uint64_t{0}; }, EmptyEnvironment()});
  const auto result =
      (*client)->Call(CompleteMultipartUploadRequest{.bucket = BucketName("b"),
                                                     .key = ObjectKey("k"),
                                                     .upload_id = UploadId("u"),
                                                     .parts = {{1, ETag("e"), ""}}});
  EXPECT_TRUE(result.ok()) << result.error().ToString();
}

// A reset may overtake earlier bytes, so the operating system decides how much of the first
// response arrives.
TEST_F(AttemptLoopSockets, AResetInTheBodyLeavesTheObjectComplete) {
  const Got got = Get({[](RawConnection& connection) {
                         SendHalf(connection);
                         connection.Reset();
                       },
                       [](RawConnection& connection) { connection.Reset(); },
                       [](RawConnection& connection) {
                         connection.Send(WholeHead() + kContent);
                         connection.WaitForClose();
                       }});
  // The third response fits a request for the whole object and not one for the remainder, which
  // then starts over.
  ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
  EXPECT_EQ(got.text, kContent);
}

TEST_F(AttemptLoopSockets, AWrongContentRangeOfTheRemainderIsNotDelivered) {
  const Got got = Get({SendHalf,
                       [](RawConnection& connection) {
                         connection.Send(RestHead(kHalf - 1, 10) + std::string(10, '?'));
                         connection.WaitForClose();
                       },
                       [](RawConnection& connection) {
                         connection.Send(WholeHead() + kContent);
                         connection.WaitForClose();
                       }});
  ASSERT_TRUE(got.result.ok()) << got.result.error().ToString();
  EXPECT_EQ(got.text, kContent);
  EXPECT_EQ(got.begins, 2);
}

TEST_F(AttemptLoopSockets, AChangedObjectIsOneError) {
  const Got got = Get({SendHalf, [](RawConnection& connection) {
                         const std::string text = ErrorXml("PreconditionFailed");
                         connection.Send("HTTP/1.1 412 Precondition Failed\r\nContent-Length: " +
                                         std::to_string(text.size()) + "\r\n\r\n" + text);
                         connection.WaitForClose();
                       }});
  ASSERT_FALSE(got.result.ok());
  EXPECT_EQ(got.result.error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(got.heads.size(), 2u);
}

TEST_F(AttemptLoopSockets, StopsAfterMaxAttemptsWithoutProgress) {
  const Got got = Get({SendHalf, [](RawConnection& connection) {
                         connection.Send(RestHead(kHalf, kContent.size() - kHalf));
                       }});
  ASSERT_FALSE(got.result.ok());
  EXPECT_EQ(got.result.error().attempts, 4);
  ASSERT_EQ(got.heads.size(), 4u);
  EXPECT_NE(got.heads[3].find(kRangeOfRest), std::string::npos);
}

}  // namespace
}  // namespace penstock::s3
