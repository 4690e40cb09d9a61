// The transport with failing peers (refused, truncated, reset, stalled or invalid responses)
// and cancelled requests.
#include <gtest/gtest.h>

#include <thread>

#include "client/http/call_for_test.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/http_transport.h"

namespace penstock::http {
namespace {

using std::chrono::milliseconds;

class TransportFailure : public ::testing::Test {
 protected:
  // Returns the error of a GET to a server that runs `script`.
  Error ErrorOf(RawServer::Script script, Collector sink = Collector()) {
    RawServer server(std::move(script));
    Call call(std::move(sink));
    const Result<Outcome> result =
        call.Start(*transport_, server.Get("/k?X-Amz-Signature=secret")).Wait();
    EXPECT_FALSE(result.ok());
    Error error = result.ok() ? Error() : result.error();
    EXPECT_EQ(error.message.find("secret"), std::string::npos) << error.message;
    peer_ = "127.0.0.1:" + std::to_string(server.port());
    EXPECT_FALSE(call.body.begin_error.has_value());
    return error;
  }
  static bool Has(const Error& error, const std::string& text) {
    return error.message.find(text) != std::string::npos;
  }

  const std::shared_ptr<Transport> transport_ = MakeHttpTransport({});
  std::string peer_;
};

TEST_F(TransportFailure, RefusedConnectionNamesThePeer) {
  Request request;
  const int port = UnusedPort();
  request.method = "GET";
  request.endpoint = {"http", "127.0.0.1", port};
  request.target = "/";
  request.headers = {{"Host", "h"}};
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(result.error(), "connection refused by 127.0.0.1:" + std::to_string(port)))
      << result.error().message;
}

TEST_F(TransportFailure, TruncatedBodyReportsExpectedAndReceivedBytes) {
  const Error error = ErrorOf([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234");
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "expected 10 bytes of body, received 4")) << error.message;
  EXPECT_TRUE(Has(error, peer_));
}

TEST_F(TransportFailure, TruncatedChunkedBodyIsAnError) {
  const Error error = ErrorOf([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "received 5")) << error.message;
}

TEST_F(TransportFailure, ResetInTheBodyIsUnavailable) {
  const Error error = ErrorOf([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234");
    connection.Reset();
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "expected 10 bytes")) << error.message;
}

TEST_F(TransportFailure, CloseBeforeAResponseIsUnavailable) {
  const Error error = ErrorOf([](RawConnection& connection) { connection.ReadHead(); });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "lost before a response")) << error.message;
}

TEST_F(TransportFailure, ResetBeforeAResponseIsUnavailable) {
  const Error error = ErrorOf([](RawConnection& connection) {
    connection.ReadHead();
    connection.Reset();
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "lost before a response")) << error.message;
}

TEST_F(TransportFailure, OtherProtocolIsUnavailable) {
  const Error error =
      ErrorOf([](RawConnection& connection) { connection.Send("220 mail.example ESMTP\r\n\r\n"); });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
}

TEST_F(TransportFailure, RejectsAnEndlessHead) {
  const Error error = ErrorOf([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\n");
    const std::string line = "X-Filler: " + std::string(10'000, 'f') + "\r\n";
    while (connection.Send(line)) {
    }
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "256 KiB")) << error.message;
}

TEST_F(TransportFailure, TooManyBytesAreDataLoss) {
  const auto script = [](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345");
  };
  const Error error = ErrorOf(script, Collector(10, 4));
  EXPECT_EQ(error.kind, ErrorKind::kDataLoss);
}

TEST_F(TransportFailure, ErrorsOfTheResponseBodyEndTheTransfer) {
  Collector sink;
  sink.commit_error = Error::Make(ErrorKind::kResourceExhausted, "disk full");
  const auto script = [](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345");
    connection.WaitForClose();
  };
  const Error error = ErrorOf(script, std::move(sink));
  EXPECT_EQ(error.kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(error.message, "disk full");
}

TEST_F(TransportFailure, ErrorInBeginEndsAResponseWithoutABody) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 204 No Content\r\n\r\n");
  });
  Call call;
  call.body.begin_error = Error::Make(ErrorKind::kInternal, "no");
  const Result<Outcome> result = call.Start(*transport_, server.Get()).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "no");
}

TEST_F(TransportFailure, DeadlineEndsAMissingResponse) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Call call;
  const Result<Outcome> result =
      call.Start(*transport_, server.Get(), nullptr, In(milliseconds(50))).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(Has(result.error(), "deadline")) << result.error().message;
}

TEST_F(TransportFailure, DeadlineInThePastSendsNothing) {
  RawServer server(RawServer::Ok);
  Call call;
  const Result<Outcome> result =
      call.Start(*transport_, server.Get(), nullptr, In(milliseconds(-1))).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(TransportFailure, IdleTimeoutEndsAStalledBody) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234");
    connection.WaitForClose();
  });
  Request request = server.Get();
  request.idle_timeout = milliseconds(50);
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(Has(result.error(), "no byte moved for 50 ms")) << result.error().message;
}

// Sends `start`, then `piece` repeatedly until the client closes the connection.
RawServer::Script Dripping(std::string start, std::string piece) {
  return [start = std::move(start), piece = std::move(piece)](RawConnection& connection) {
    connection.ReadHead();
    if (!start.empty()) connection.Send(start);
    while (connection.Send(piece)) std::this_thread::sleep_for(milliseconds(20));
  };
}

// Regression test: a server that sent a byte of its head, or 100 Continue, now and then, held a
// request open forever.
TEST_F(TransportFailure, OnlyTheEndOfTheHeadAndBodyBytesRestartTheIdleTimeout) {
  const std::string chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n";
  struct Case {
    const char* what;
    std::string start;
    std::string piece;
    const char* message;
  };
  for (const auto& [what, start, piece, message] : {
           Case{"interim responses", "", "HTTP/1.1 103 Early Hints\r\n\r\n",
                "interim responses or an unfinished head for 200 ms"},
           Case{"a header value", "HTTP/1.1 200 OK\r\nName: ", "v",
                "interim responses or an unfinished head for 200 ms"},
           Case{"headers", "HTTP/1.1 200 OK\r\n", "A: b\r\n",
                "interim responses or an unfinished head for 200 ms"},
           Case{"a chunk extension", chunk + "1;", "e", "no byte of the body for 200 ms"},
           Case{"trailers", chunk + "0\r\n", "A: b\r\n", "no byte of the body for 200 ms"},
       }) {
    RawServer server(Dripping(start, piece));
    Request request = server.Get();
    request.idle_timeout = milliseconds(200);
    Call call;
    const Result<Outcome> result = call.Start(*transport_, request).Wait();
    ASSERT_FALSE(result.ok()) << what;
    EXPECT_EQ(result.error().kind, ErrorKind::kTimeout) << what;
    EXPECT_TRUE(Has(result.error(), message)) << what << ": " << result.error().message;
  }
}

TEST_F(TransportFailure, SlowButSteadyBodyIsNotIdle) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(milliseconds(50));
      connection.Send("x");
    }
  });
  Request request = server.Get();
  request.idle_timeout = milliseconds(500);
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->body_bytes, 20u);
}

TEST_F(TransportFailure, RejectsEndlessInterimResponses) {
  const Error error = ErrorOf([](RawConnection& connection) {
    connection.ReadHead();
    while (connection.Send("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "more than 32 interim responses")) << error.message;
}

TEST_F(TransportFailure, CancelEndsARequestDuringItsBody) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1234");
    connection.WaitForClose();
  });
  // stops itself once bytes have arrived, so the test needs no timing
  class Stopper final : public ResponseBody {
   public:
    explicit Stopper(std::stop_source& stop) : stop_(stop) {}
    Result<void> Begin(const ResponseHead&) override { return Ok(); }
    MutableByteView Window() override { return memory_; }
    Result<void> Commit(std::size_t) override {
      stop_.request_stop();
      return Ok();
    }

   private:
    std::stop_source& stop_;
    std::byte memory_[16]{};
  };
  std::stop_source stop;
  Stopper sink(stop);
  std::promise<Result<Outcome>> promise;
  transport_->Start(server.Get(), nullptr, &sink, {Deadline::Never(), stop.get_token()},
                    [&](Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
  const Result<Outcome> result = promise.get_future().get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kCancelled);
}

TEST_F(TransportFailure, CancelBeforeStartSendsNothing) {
  RawServer server(RawServer::Ok);
  Call call;
  call.stop.request_stop();
  const Result<Outcome> result = call.Start(*transport_, server.Get()).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(TransportFailure, CancelRacingWithCompletionEndsExactlyOnce) {
  RawServer server(RawServer::Ok);
  int ended = 0;
  for (int i = 0; i < 300; ++i) {
    Call call;
    call.Start(*transport_, server.Get());
    std::jthread stopper([&] { call.stop.request_stop(); });
    const Result<Outcome> result = call.Wait();  // a second completion would throw from the promise
    ended += result.ok() || result.error().kind == ErrorKind::kCancelled ? 1 : 0;
  }
  EXPECT_EQ(ended, 300);
}

TEST_F(TransportFailure, QueuedRequestHonoursItsDeadlineAndCancellation) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  HttpTransportOptions options;
  options.io_threads = 1;
  options.max_transfers = 1;
  const auto transport = MakeHttpTransport(options);
  Call holder;
  Call late;
  Call cancelled;
  holder.Start(*transport, server.Get());
  late.Start(*transport, server.Get(), nullptr, In(milliseconds(30)));
  cancelled.Start(*transport, server.Get());
  cancelled.stop.request_stop();
  EXPECT_EQ(cancelled.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(late.Wait().error().kind, ErrorKind::kTimeout);
  holder.stop.request_stop();
  EXPECT_EQ(holder.Wait().error().kind, ErrorKind::kCancelled);
}

TEST_F(TransportFailure, BodyShorterThanItsSizeFailsTheRequest) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  TextBody body("abc");
  body.declared_size = 10;
  Request request = server.Get();
  request.method = "PUT";
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request, &body).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
}

TEST_F(TransportFailure, RequestsThatCannotBeSentAreInvalid) {
  const auto kind_of = [&](Request request) {
    Call call;
    const Result<Outcome> result = call.Start(*transport_, std::move(request)).Wait();
    return result.ok() ? ErrorKind::kInternal : result.error().kind;
  };
  RawServer server(RawServer::Ok);
  for (const std::string target : {"", "k", "/a b", "/a\r\nX: y", "/a#b", "/\xc3\xa9"}) {
    EXPECT_EQ(kind_of(server.Get(target)), ErrorKind::kInvalidArgument) << target;
  }
  Request split = server.Get();
  split.headers.push_back({"X", "a\r\nY: b"});
  EXPECT_EQ(kind_of(split), ErrorKind::kInvalidArgument);
  Request no_host = server.Get();
  no_host.headers.clear();
  EXPECT_EQ(kind_of(no_host), ErrorKind::kInvalidArgument);
  Request own_length = server.Get();
  own_length.headers.push_back({"content-length", "1"});
  EXPECT_EQ(kind_of(own_length), ErrorKind::kInvalidArgument);
  Request other_scheme = server.Get();
  other_scheme.endpoint.scheme = "ftp";
  EXPECT_EQ(kind_of(other_scheme), ErrorKind::kInvalidArgument);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(TransportFailure, ErrorNamesAMissingCaBundle) {
  RawServer server(RawServer::Ok);
  Request request = server.Get();
  request.endpoint.scheme = "https";
  request.ca_bundle_path = "/nonexistent/ca.pem";
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_TRUE(Has(result.error(), "/nonexistent/ca.pem")) << result.error().message;
}

TEST_F(TransportFailure, TlsToAPlainServerIsAPermanentError) {
  RawServer server(
      [](RawConnection& connection) { connection.Send("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  Request request = server.Get();
  request.endpoint.scheme = "https";
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_TRUE(Has(result.error(), "plain http")) << result.error().message;
}

TEST_F(TransportFailure, HandshakeTimeoutSaysThatTheConnectionWasAccepted) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Request request = server.Get();
  request.endpoint.scheme = "https";
  request.connect_timeout = milliseconds(200);
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_TRUE(Has(result.error(), "accepted the connection")) << result.error().message;
}

TEST_F(TransportFailure, SlowButSteadyUploadIsNotIdle) {
  constexpr std::size_t kBytes = 3 << 20;
  RawServer server([](RawConnection& connection) {
    // The first response leaves the connection open, so the end of a kept connection is tested too.
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    connection.ReadHead();
    connection.Send("HTTP/1.1 100 Continue\r\n\r\n");
    for (std::size_t left = kBytes; left > 0;) {
      const std::string some = connection.ReadBody(std::min<std::size_t>(left, 32 << 10));
      if (some.empty()) return;
      left -= some.size();
      std::this_thread::sleep_for(milliseconds(40));
    }
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  Request request = server.Get();
  request.method = "PUT";
  // The system accepts the whole body in less time, and needs four times as long to send it.
  request.idle_timeout = milliseconds(1000);
  TextBody body(std::string(kBytes, 'x'));
  Call before;
  ASSERT_TRUE(before.Start(*transport_, server.Get()).Wait().ok());
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request, &body).Wait();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->sent_bytes, kBytes);
  EXPECT_TRUE(result->connection_reused);
}

TEST_F(TransportFailure, TruncatedHeadIsNotAResponse) {
  RawServer server([](RawConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nC");
  });
  Request request = server.Get();
  request.method = "PUT";
  TextBody body("x");
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request, &body).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace penstock::http
