#include "client/http/connect/tls_read_ahead.h"

#include <curl/curl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "client/http/call_for_test.h"
#include "client/http/connect/curl_global.h"
#include "client/http/reactor/http_transport.h"
#include "client/http/tls_server_for_test.h"

namespace penstock::http {
namespace {

using std::chrono::milliseconds;

std::string Ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string Pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 2654435761u % 26);
  return text;
}

std::shared_ptr<Transport> MakeTransport() {
  HttpTransportOptions options;
  options.io_threads = 1;
  options.turn_bytes = std::size_t{1} << 30;  // no turn ends before the socket is full or empty
  return MakeHttpTransport(std::move(options));
}

// Receiving one byte takes all available bytes out of the socket.
TEST(TlsReadAhead, OneReceiveEmptiesTheSocket) {
  ASSERT_TRUE(InitCurl());
  TlsServer server([](TlsConnection& connection) {
    connection.ReadHead();
    for (int i = 0; i < 8; ++i) connection.Write(std::string(1000, 'r'));
    connection.Flush();
    connection.raw().WaitForClose();
  });
  const Request request = server.Get();
  CURL* const handle = curl_easy_init();
  curl_easy_setopt(handle, CURLOPT_URL,
                   ("https://127.0.0.1:" + std::to_string(server.port())).c_str());
  curl_easy_setopt(handle, CURLOPT_CAINFO, request.ca_bundle_path.c_str());
  curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
  const curl_ssl_ctx_callback on_context = [](CURL*, void* context, void*) {
    LetTlsReadAhead(static_cast<SSL_CTX*>(context));
    return CURLE_OK;
  };
  curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, on_context);
  ASSERT_EQ(curl_easy_perform(handle), CURLE_OK);
  curl_socket_t fd = CURL_SOCKET_BAD;
  ASSERT_EQ(curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &fd), CURLE_OK);
  std::size_t count = 0;
  ASSERT_EQ(curl_easy_send(handle, "GET\r\n\r\n", 7, &count), CURLE_OK);
  char byte = 0;
  CURLcode code = CURLE_AGAIN;
  int waiting = 0;
  while (code == CURLE_AGAIN) {  // a session ticket may arrive alone first
    pollfd readable{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
    code = curl_easy_recv(handle, &byte, 1, &count);
  }
  EXPECT_EQ(code, CURLE_OK);
  EXPECT_EQ(byte, 'r');
  ASSERT_EQ(::ioctl(fd, FIONREAD, &waiting), 0);
  EXPECT_EQ(waiting, 0);
  curl_easy_cleanup(handle);
}

TEST(TlsReadAhead, BytesAfterAResponseAreNotTheNextResponse) {
  const std::shared_ptr<Transport> transport = MakeTransport();
  TlsServer server([](TlsConnection& connection) {
    while (connection.ReadHead()) {
      connection.Write(Ok("right"));
      connection.Write(Ok("wrong"));
      connection.Flush();
    }
  });
  for (int i = 0; i < 3; ++i) {
    Call call;
    const Result<Outcome> result = call.Start(*transport, server.Get()).Wait();
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(call.body.text, "right");
    EXPECT_FALSE(result->connection_reused);
  }
  EXPECT_EQ(server.connections(), 3);
}

class TlsTransfer : public ::testing::Test {
 protected:
  const std::shared_ptr<Transport> transport_ = MakeTransport();
};

TEST_F(TlsTransfer, LargeBodiesArriveCompletelyOnOneConnection) {
  const std::string body = Pattern(3'000'001);
  TlsServer server([&](TlsConnection& connection) {
    while (connection.ReadHead()) connection.Send(Ok(body));
  });
  for (int i = 0; i < 3; ++i) {
    Call call(Collector(1 << 20));
    const Result<Outcome> result = call.Start(*transport_, server.Get()).Wait();
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(call.body.text == body);
    EXPECT_EQ(result->connection_reused, i > 0);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(TlsTransfer, ReadsManySmallRecordsFromOneSegment) {
  const std::string body = Pattern(5'000);
  TlsServer server([&](TlsConnection& connection) {
    connection.ReadHead();
    for (const char& byte : Ok(body)) connection.Write({&byte, 1});
    connection.Flush();
    connection.raw().WaitForClose();
  });
  Call call;
  const Result<Outcome> result = call.Start(*transport_, server.Get()).Wait();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(call.body.text, body);
}

// The rejection is buffered inside TLS while the request body waits for the socket.
TEST_F(TlsTransfer, SeesARejectionRightAfter100Continue) {
  std::promise<void> over;  // until then the server reads nothing of the body
  TlsServer server([ended = over.get_future().share()](TlsConnection& connection) {
    connection.ReadHead();
    connection.Write("HTTP/1.1 100 Continue\r\n\r\n");
    connection.Write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    connection.Flush();
    ended.wait();
  });
  Request request = server.Get();
  request.method = "PUT";
  TextBody upload(std::string(64 << 20, 'u'));
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request, &upload).Wait();
  over.set_value();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->head.status, 403);
}

TEST_F(TlsTransfer, TruncatedBodyIsAnError) {
  for (const bool sends_close_notify : {true, false}) {
    TlsServer server([=](TlsConnection& connection) {
      connection.ReadHead();
      connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" +
                       std::string(1'000'000, 'h'));
      if (sends_close_notify) connection.SendCloseNotify();
      connection.Flush();
    });
    Call call;
    const Result<Outcome> result = call.Start(*transport_, server.Get()).Wait();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable) << result.error().message;
  }
}

// Much less has arrived than the low-water mark of a large body.
TEST_F(TlsTransfer, StalledPeerTimesOutAfterDeliveringItsBytes) {
  TlsServer server([](TlsConnection& connection) {
    connection.ReadHead();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" +
                    std::string(20'000, 's'));
    connection.raw().WaitForClose();
  });
  Request request = server.Get();
  request.idle_timeout = milliseconds(200);
  Call call;
  const Result<Outcome> result = call.Start(*transport_, request).Wait();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout) << result.error().message;
  EXPECT_EQ(call.body.text.size(), 20'000u);
}

TEST_F(TlsTransfer, DeliversBytesOfASlowPeerImmediately) {
  const std::string body = Pattern(1'500'000);
  TlsServer server([&](TlsConnection& connection) {
    connection.ReadHead();
    const std::string text = Ok(body);
    for (std::size_t at = 0; at < text.size(); at += 5'000)
      connection.Send(std::string_view(text).substr(at, 5'000));
    connection.raw().WaitForClose();
  });
  Call call;
  const Result<Outcome> result = call.Start(*transport_, server.Get()).Wait();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(call.body.text == body);
}

}  // namespace
}  // namespace penstock::http
