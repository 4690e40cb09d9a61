#include "client/http/reactor/http_transport.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <thread>

#include "client/http/call_for_test.h"
#include "client/http/raw_server_for_test.h"

namespace penstock::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Returns the request head that the server receives for `request`, sent through a new transport.
std::string HeadOnTheWire(Request request, RequestBody* body = nullptr) {
  std::string head;
  RawServer server([&](RawConnection& connection) {
    head = connection.ReadHead().value_or("");
    connection.ReadBody(body == nullptr ? 0 : body->size());
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  request.endpoint = server.Get().endpoint;
  const auto transport = MakeHttpTransport({});
  Call call;
  EXPECT_TRUE(call.Start(*transport, std::move(request), body).Wait().ok());
  return head;
}

Request Plain(std::string method, std::string target = "/k") {
  Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = {{"Host", "h"}};
  return request;
}

TEST(HttpTransport, DeliversHeadAndBody) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send(
        "HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nx-amz-id-2:a b \r\nContent-Length: "
        "5\r\n\r\nhello");
  });
  const auto transport = MakeHttpTransport({});
  Call call(Collector(2));
  const Result<Outcome> result = call.Start(*transport, server.Get()).Wait();
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(result->head.status, 206);
  ASSERT_EQ(result->head.headers.size(), 3u);
  EXPECT_EQ(result->head.headers[1].name, "x-amz-id-2");
  EXPECT_EQ(result->head.headers[1].value, "a b");
  EXPECT_EQ(call.body.text, "hello");
  EXPECT_EQ(result->body_bytes, 5u);
  EXPECT_GT(result->first_byte.count(), 0);
  EXPECT_FALSE(result->connection_reused);
}

TEST(HttpTransport, CallsBeginOnceWithTheFinalHead) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nA: b\r\n\r\n");
  });
  const auto transport = MakeHttpTransport({});
  Call call;
  ASSERT_TRUE(call.Start(*transport, server.Get()).Wait().ok());
  ASSERT_EQ(call.body.heads.size(), 1u);
  EXPECT_EQ(call.body.heads[0].status, 204);
  EXPECT_EQ(call.body.heads[0].Find("a"), "b");
}

TEST(HttpTransport, DeliversErrorStatusesAsResponses) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send(
        "HTTP/1.1 503 Slow Down\r\nConnection: close\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3\r\n<E>\r\n0\r\n\r\n");
  });
  const auto transport = MakeHttpTransport({});
  Call call;
  const Result<Outcome> result = call.Start(*transport, server.Get()).Wait();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->head.status, 503);
  EXPECT_EQ(call.body.text, "<E>");
}

TEST(HttpTransport, DoesNotFollowRedirectsOrTreatTrailersAsHeaders) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send(
        "HTTP/1.1 307 T\r\nLocation: /x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: "
        "v\r\n\r\n");
    connection.WaitForClose();
  });
  Call call;
  {
    const auto transport = MakeHttpTransport({});
    const Result<Outcome> result = call.Start(*transport, server.Get()).Wait();
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->head.status, 307);
    EXPECT_FALSE(result->head.Find("T").has_value());
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpTransport, KeepsTheConnectionForTheNextRequest) {
  RawServer server(RawServer::Ok);
  const auto transport = MakeHttpTransport({});
  for (int i = 0; i < 20; ++i) {
    Call call;
    const Result<Outcome> result = call.Start(*transport, server.Get()).Wait();
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->connection_reused, i > 0);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpTransport, SendsTheTargetAsGiven) {
  for (const std::string target :
       {"/a/../b/./c", "//x///y//", "/%2F%2f%c3%A9", "/a%20b%2Bc/~!$&'()*+,;=:@", "/k?",
        "/?list-type=2&prefix=a%2Fb%20c", "/?acl", "/..", "/.", "/x?a=/../b//c?d", "/?",
        "/a[b]{c}|\"<>^`\\"}) {
    const std::string head = HeadOnTheWire(Plain("GET", target));
    EXPECT_EQ(head.substr(0, head.find("\r\n")), "GET " + target + " HTTP/1.1");
  }
}

TEST(HttpTransport, SendsOnlyTheGivenHeadersInTheirOrder) {
  Request request = Plain("GET", "/k");
  request.headers = {{"Host", "bucket.s3"},
                     {"x-amz-b", "2"},
                     {"x-amz-a", "1"},
                     {"X-Empty", ""},
                     {"User-Agent", "u"}};
  EXPECT_EQ(HeadOnTheWire(request),
            "GET /k HTTP/1.1\r\nHost: bucket.s3\r\nx-amz-b: 2\r\nx-amz-a: "
            "1\r\nX-Empty:\r\nUser-Agent: u\r\n\r\n");
}

TEST(HttpTransport, UploadsAddOnlyContentLength) {
  TextBody body("hello");
  EXPECT_EQ(HeadOnTheWire(Plain("PUT"), &body),
            "PUT /k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(HeadOnTheWire(Plain("POST"), &body),
            "POST /k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(HeadOnTheWire(Plain("DELETE"), &body),
            "DELETE /k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
  TextBody empty("");
  EXPECT_EQ(HeadOnTheWire(Plain("PUT"), &empty),
            "PUT /k HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpTransport, MethodsWithoutBodySendTheRightLengths) {
  EXPECT_EQ(HeadOnTheWire(Plain("HEAD")), "HEAD /k HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(HeadOnTheWire(Plain("DELETE")), "DELETE /k HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(HeadOnTheWire(Plain("POST")),
            "POST /k HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(HeadOnTheWire(Plain("PUT")), "PUT /k HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpTransport, ReusedConnectionKeepsNoStateBetweenMethods) {
  std::vector<std::string> heads;
  RawServer server([&](RawConnection& connection) {
    while (auto head = connection.ReadHead()) {
      heads.push_back(head->substr(0, head->find(' ')) +
                      (head->find("Content-Length") != head->npos ? "+" : ""));
      if (heads.back() == "PUT+") connection.ReadBody(3);
      connection.Send(heads.back() == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
                                             : kOk);
    }
  });
  {
    const auto transport = MakeHttpTransport({});
    TextBody body("abc");
    for (const std::string method : {"PUT", "HEAD", "GET", "DELETE", "HEAD", "POST", "GET"}) {
      Request request = server.Get();
      request.method = method;
      Call call;
      ASSERT_TRUE(call.Start(*transport, request, method == "PUT" ? &body : nullptr).Wait().ok())
          << method;
    }
  }
  EXPECT_EQ(heads,
            (std::vector<std::string>{"PUT+", "HEAD", "GET", "DELETE", "HEAD", "POST+", "GET"}));
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpTransport, LargeBodyArrivesCompletely) {
  const std::string payload(40 << 20, 'x');
  RawServer server([&](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(payload.size()) +
                    "\r\n\r\n");
    connection.Send(payload);
  });
  const auto transport = MakeHttpTransport({});
  Call call(Collector(777'777));
  const Result<Outcome> result = call.Start(*transport, server.Get()).Wait();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->body_bytes, payload.size());
  EXPECT_TRUE(call.body.text == payload);
}

TEST(HttpTransport, LargeUploadUsesExpectAndArrivesCompletely) {
  std::string received;
  bool asked = false;
  const std::string payload(8 << 20, 'u');
  RawServer server([&](RawConnection& connection) {
    asked = connection.ReadHead().value_or("").find("Expect: 100-continue") != std::string::npos;
    connection.Send("HTTP/1.1 100 Continue\r\n\r\n");
    received = connection.ReadBody(payload.size());
    connection.Send(kOk);
  });
  const auto transport = MakeHttpTransport({});
  TextBody body(payload);
  Request request = server.Get();
  request.method = "PUT";
  Call call;
  const Result<Outcome> result = call.Start(*transport, request, &body).Wait();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(asked);
  EXPECT_EQ(result->sent_bytes, payload.size());
  EXPECT_TRUE(received == payload);
}

TEST(HttpTransport, UploadRejectedBeforeItsBodyReturnsTheResponse) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 503 Slow Down\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
  });
  const auto transport = MakeHttpTransport({});
  TextBody body(std::string(4 << 20, 'u'));
  Request request = server.Get();
  request.method = "PUT";
  Call call;
  const Result<Outcome> result = call.Start(*transport, request, &body).Wait();
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(result->head.status, 503);
  EXPECT_EQ(result->sent_bytes, 0u);
  EXPECT_EQ(call.body.text, "no");
}

TEST(HttpTransport, UploadFailsIfAReusedConnectionIsReset) {
  Mutex mutex;
  std::vector<std::string> bodies;
  const auto keep = [&](std::string body) {
    const MutexLock lock(mutex);
    bodies.push_back(std::move(body));
  };
  RawServer server([&](RawConnection& connection) {
    if (connection.index() == 0) {
      connection.ReadHead();
      connection.Send(kOk);
      connection.ReadHead();
      keep(connection.ReadBody(300'000));
      connection.Reset();  // no byte of a response
      return;
    }
    if (!connection.ReadHead()) return;  // the callback stops it after connecting
    keep(connection.ReadBody(300'000));
    connection.Send(kOk);
  });
  std::string payload;
  for (int i = 0; payload.size() < 300'000; ++i) payload += std::to_string(i);
  payload.resize(300'000);
  TextBody body(payload);
  const auto transport = MakeHttpTransport({});
  ASSERT_TRUE(Call().Start(*transport, server.Get()).Wait().ok());
  Request request = server.Get();
  request.method = "PUT";
  Call call;
  const Result<Outcome> result = call.Start(*transport, request, &body).Wait();
  const MutexLock lock(mutex);
  // The whole request had been sent, so the peer may have processed it. The transport must not
  // decide about a retry.
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(bodies.size(), 1u);
}

TEST(HttpTransport, ManyConcurrentRequestsSucceed) {
  RawServer server(RawServer::Ok);
  const auto transport = MakeHttpTransport({});
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 200; ++i) {
    calls.push_back(std::make_unique<Call>());
    calls.back()->Start(*transport, server.Get());
  }
  int good = 0;
  for (const auto& call : calls) good += call->Wait().ok() && call->body.text == "ok" ? 1 : 0;
  EXPECT_EQ(good, 200);
}

TEST(HttpTransport, LimitsConcurrentTransfers) {
  RawServer server(RawServer::Ok);
  HttpTransportOptions options;
  options.io_threads = 2;
  options.max_transfers = 6;
  const auto transport = MakeHttpTransport(options);
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(std::make_unique<Call>());
    calls.back()->Start(*transport, server.Get());
  }
  for (const auto& call : calls) ASSERT_TRUE(call->Wait().ok());
  EXPECT_LE(server.connections(), 6);
  EXPECT_GE(server.connections(), 2);  // both threads had work
}

TEST(HttpTransport, CompletionMayStartTheNextRequest) {
  RawServer server(RawServer::Ok);
  const auto transport = MakeHttpTransport({});
  Collector sink;
  std::promise<int> finished;
  int left = 50;
  std::function<void(Result<Outcome>)> next = [&](Result<Outcome> outcome) {
    if (!outcome.ok() || --left == 0) return finished.set_value(left);
    transport->Start(server.Get(), nullptr, &sink, {}, next);
  };
  transport->Start(server.Get(), nullptr, &sink, {}, next);
  EXPECT_EQ(finished.get_future().get(), 0);
}

TEST(HttpTransport, RunsTasksInOrderOfTimeAndNeverEarly) {
  const auto transport = MakeHttpTransport({});
  const MonotonicTime start = SystemClock().Monotonic();
  std::string order;
  std::promise<MonotonicTime> last;
  const Result<void> second = transport->RunAt(start + milliseconds(60), [&] {
    order += "b";
    last.set_value(SystemClock().Monotonic());
  });
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE(transport->RunAt(start + milliseconds(20), [&] { order += "a"; }).ok());
  EXPECT_GE(last.get_future().get() - start, milliseconds(60));
  EXPECT_EQ(order, "ab");
}

TEST(HttpTransport, DestructionCompletesRequestsInFlight) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Call call;
  bool task_ran = false;
  {
    const auto transport = MakeHttpTransport({});
    call.Start(*transport, server.Get());
    ASSERT_TRUE(
        transport
            ->RunAt(SystemClock().Monotonic() + std::chrono::hours(1), [&] { task_ran = true; })
            .ok());
  }
  const Result<Outcome> result = call.Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(task_ran);
}

TEST(HttpTransport, CanBeDestroyedByItsOwnCompletion) {
  RawServer server(RawServer::Ok);
  auto transport = MakeHttpTransport({});
  Transport& raw = *transport;
  Collector sink;
  std::promise<bool> finished;
  raw.Start(server.Get(), nullptr, &sink, {},
            [&, last = std::move(transport)](Result<Outcome> outcome) mutable {
              last.reset();
              finished.set_value(outcome.ok());
            });
  EXPECT_TRUE(finished.get_future().get());
}

TEST(SharedTransport, IsOnePerProcessAndNumberOfThreads) {
  EXPECT_EQ(SharedTransport(), SharedTransport());
  EXPECT_EQ(SharedTransport(3), SharedTransport(3));
  EXPECT_NE(SharedTransport(3), SharedTransport());
}

TEST(SharedTransport, ProcessWithConnectionsOpenExitsCleanly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a separate process, not a fork of this one
  const auto exit_with_connections = [] {
    RawServer idle(RawServer::Ok);
    RawServer silent([](RawConnection& connection) { connection.WaitForClose(); });
    Call done;
    Call in_flight;
    in_flight.Start(*SharedTransport(), silent.Get());
    const bool good = done.Start(*SharedTransport(), idle.Get()).Wait().ok();
    std::exit(good ? 0 : 1);  // with exit handlers and static destructors
  };
  EXPECT_EXIT(exit_with_connections(), ::testing::ExitedWithCode(0), "");
}

// Three addresses of the same server.
TEST(HttpTransport, NewConnectionsUseAllAddressesOfAHost) {
  Mutex mutex;
  std::map<std::string, int> seen;
  RawServer server(
      [&](RawConnection& connection) {
        {
          const MutexLock lock(mutex);
          ++seen[connection.address()];
        }
        if (connection.ReadHead())
          connection.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
      },
      RawServer::Listens::kEverywhere);
  const std::string where = "spread.test:" + std::to_string(server.port());
  const auto transport =
      MakeHttpTransport({.io_threads = 1, .resolve = {where + ":127.0.0.1,127.0.0.2,127.0.0.3"}});
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 64; ++i) {
    Request request = server.Get();
    request.endpoint.host = "spread.test";
    calls.push_back(std::make_unique<Call>());
    calls.back()->Start(*transport, std::move(request));
  }
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().ok());
  const MutexLock lock(mutex);
  EXPECT_EQ(seen.size(), 3u)
      << "with 64 connections, one of three addresses gets none about once in 10^11 runs";
}

TEST(HttpTransport, SkipsAnAddressThatRefuses) {
  RawServer server([](RawConnection& connection) {
    if (connection.ReadHead())
      connection.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  const std::string where = "spread.test:" + std::to_string(server.port());
  const auto transport =
      MakeHttpTransport({.io_threads = 1, .resolve = {where + ":127.0.0.2,127.0.0.1,127.0.0.3"}});
  const MonotonicTime began = SystemClock().Monotonic();
  for (int i = 0; i < 16; ++i) {
    Request request = server.Get();
    request.connect_timeout = std::chrono::seconds(50);
    request.endpoint.host = "spread.test";
    Call call;
    EXPECT_TRUE(call.Start(*transport, std::move(request)).Wait().ok());
  }
  EXPECT_EQ(server.connections(), 16);
  // Regression test: after a skipped address, the next one was tried after half of the connect
  // timeout.
  EXPECT_LT(SystemClock().Monotonic() - began, std::chrono::seconds(20));
}

}  // namespace
}  // namespace penstock::http
