#include "client/http/connect/connection_error.h"

#include <curl/curl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>

namespace penstock::http {
namespace {

Request To(std::string host, int port) {
  Request request;
  request.endpoint = {"https", std::move(host), port};
  request.target = "/k?X-Amz-Signature=secret";
  request.connect_timeout = std::chrono::milliseconds(1500);
  request.ca_bundle_path = "/etc/my.pem";
  return request;
}

Error From(ConnectFailure failure) { return ConnectError(To("s3.local", 9000), failure); }
Error Lost(LostConnection lost) { return LostConnectionError(To("s3.local", 9000), lost); }

bool Has(const Error& error, std::string_view text) {
  return error.message.find(text) != std::string::npos;
}

TEST(ConnectionError, MessagesNameThePeerAndNeverTheTarget) {
  for (int code = 1; code < CURL_LAST; ++code) {
    if (code == CURLE_SSL_CACERT_BADFILE) continue;  // its message names the file
    const Error error = From({.curl_code = code});
    EXPECT_TRUE(Has(error, "s3.local")) << code << ": " << error.message;
    EXPECT_FALSE(Has(error, "secret")) << error.message;
  }
}

TEST(ConnectionError, ReportsRefusedConnectionsAndTooManyFiles) {
  EXPECT_TRUE(Has(From({.curl_code = CURLE_COULDNT_CONNECT, .os_error = ECONNREFUSED}),
                  "refused by s3.local:9000"));
  EXPECT_EQ(From({.curl_code = CURLE_COULDNT_CONNECT, .os_error = EMFILE}).kind,
            ErrorKind::kResourceExhausted);
  EXPECT_TRUE(Has(From({.curl_code = CURLE_COULDNT_CONNECT, .os_error = EHOSTUNREACH}),
                  "No route to host"));
}

TEST(ConnectionError, NamesTheProxyWithoutItsCredentials) {
  ASSERT_EQ(::setenv("https_proxy", "http://user:secret@127.0.0.1:3128", 1), 0);
  const Error refused = From({.curl_code = CURLE_COULDNT_CONNECT, .os_error = ECONNREFUSED});
  const Error unknown = From({.curl_code = CURLE_COULDNT_RESOLVE_PROXY});
  const Error cut =
      From({.curl_code = CURLE_RECV_ERROR, .detail = "CONNECT tunnel failed, response 407"});
  ASSERT_EQ(::setenv("no_proxy", "s3.local", 1), 0);
  const Error direct = From({.curl_code = CURLE_COULDNT_CONNECT, .os_error = ECONNREFUSED});
  ASSERT_EQ(::unsetenv("https_proxy"), 0);
  ASSERT_EQ(::unsetenv("no_proxy"), 0);
  EXPECT_EQ(refused.message,
            "connection refused by the proxy 127.0.0.1:3128 (https_proxy) on the way to "
            "s3.local:9000: nothing listens there");
  EXPECT_EQ(unknown.message,
            "cannot resolve the host of the proxy 127.0.0.1:3128 (https_proxy) on the way to "
            "s3.local:9000");
  EXPECT_TRUE(Has(cut, "connection to s3.local:9000 (through the proxy 127.0.0.1:3128) was lost"))
      << cut.message;
  EXPECT_EQ(direct.message, "connection refused by s3.local:9000: nothing listens there");
}

TEST(ConnectionError, ReportsAnInvalidProxyUrlWithoutQuotingIt) {
  for (const char* variable : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    for (const std::string url :
         {"sock5://u:SEKRET@127.0.0.1:1", "http://u:SEKRET", "http://u:SEKRET@127.0.0.1:port"}) {
      ASSERT_EQ(::setenv(variable, url.c_str(), 1), 0);
      const std::string detail = "Unsupported proxy in '" + url + "'";
      for (int code = 1; code < CURL_LAST; ++code) {
        const Error error = From({.curl_code = code, .detail = detail});
        EXPECT_FALSE(Has(error, "SEKRET")) << error.message;
        EXPECT_TRUE(Has(error, variable)) << error.message;
        EXPECT_EQ(error.kind, ErrorKind::kInvalidArgument);
        EXPECT_FALSE(Has(From({.curl_code = code, .connected = true, .detail = detail}), "SEKRET"));
      }
      ASSERT_EQ(::unsetenv(variable), 0);
    }
  }
}

TEST(ConnectionError, ConnectTimeoutIsATimeoutWithItsLimit) {
  const Error error = From({.curl_code = CURLE_OPERATION_TIMEDOUT});
  EXPECT_EQ(error.kind, ErrorKind::kTimeout);
  EXPECT_TRUE(Has(error, "1500 ms"));
}

TEST(ConnectionError, HandshakeTimeoutIsNotReportedAsMissingConnection) {
  const Error error = From({.curl_code = CURLE_OPERATION_TIMEDOUT, .connected = true});
  EXPECT_EQ(error.kind, ErrorKind::kTimeout);
  EXPECT_TRUE(Has(error, "did not answer the TLS handshake within 1500 ms")) << error.message;
  EXPECT_FALSE(Has(error, "no connection"));
}

TEST(ConnectionError, ASilentTunnelIsNotASilentProxy) {
  ASSERT_EQ(::setenv("https_proxy", "http://127.0.0.1:3128", 1), 0);
  ConnectFailure failure{.curl_code = CURLE_OPERATION_TIMEDOUT, .connected = true};
  const Error proxy = From(failure);
  failure.tunnel_status = 200;
  const Error server = From(failure);
  failure = {.curl_code = CURLE_WRITE_ERROR, .connected = true, .tunnel_status = 403};
  const Error refused = From(failure);
  ASSERT_EQ(::unsetenv("https_proxy"), 0);
  EXPECT_EQ(proxy.message,
            "the proxy 127.0.0.1:3128 (https_proxy) on the way to s3.local:9000 accepted the "
            "connection but did not answer within 1500 ms: check that https_proxy has the scheme "
            "and port of the proxy");
  EXPECT_TRUE(Has(server,
                  "s3.local:9000 (through the proxy 127.0.0.1:3128) accepted the connection "
                  "but did not answer the TLS handshake"))
      << server.message;
  EXPECT_EQ(refused.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(refused, "on the way to s3.local:9000 answered CONNECT with status 403"))
      << refused.message;
}

TEST(ConnectionError, OnlyATextResponseToAHandshakeIsPermanent) {
  EXPECT_EQ(From({.curl_code = CURLE_SSL_CONNECT_ERROR, .detail = "Connection reset by peer"}).kind,
            ErrorKind::kUnavailable);
  EXPECT_EQ(
      From({.curl_code = CURLE_SSL_CONNECT_ERROR, .detail = "SSL routines::wrong version number"})
          .kind,
      ErrorKind::kInvalidArgument);
}

TEST(ConnectionError, UntrustedCertificateIsUnauthenticated) {
  const Error error =
      From({.curl_code = CURLE_PEER_FAILED_VERIFICATION, .detail = "self-signed certificate"});
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_TRUE(Has(error, "self-signed certificate"));
}

TEST(ConnectionError, TheHandshakeWithAnHttpsProxyIsNotThatOfTheServer) {
  ASSERT_EQ(::setenv("https_proxy", "https://user:secret@127.0.0.1:3128", 1), 0);
  ConnectFailure failure{.curl_code = CURLE_PEER_FAILED_VERIFICATION, .detail = "unknown issuer"};
  const Error proxy = From(failure);
  failure.tunnel_status = 200;
  const Error server = From(failure);
  const Error plain =
      From({.curl_code = CURLE_SSL_CONNECT_ERROR, .detail = "SSL routines::wrong version number"});
  ASSERT_EQ(::unsetenv("https_proxy"), 0);
  EXPECT_EQ(proxy.message,
            "TLS certificate of the proxy 127.0.0.1:3128 (https_proxy) on the way to s3.local:9000 "
            "was not accepted: unknown issuer");
  EXPECT_EQ(server.message,
            "TLS certificate of s3.local:9000 (through the proxy 127.0.0.1:3128) was not accepted: "
            "unknown issuer");
  EXPECT_EQ(plain.message,
            "the proxy 127.0.0.1:3128 (https_proxy) on the way to s3.local:9000 answered the TLS "
            "handshake with plain text: if it speaks plain http, use http:// in https_proxy");
}

TEST(ConnectionError, ErrorNamesAnUnreadableCaBundle) {
  const Error error = From({.curl_code = CURLE_SSL_CACERT_BADFILE});
  EXPECT_EQ(error.kind, ErrorKind::kInvalidArgument);
  EXPECT_TRUE(Has(error, "/etc/my.pem"));
}

TEST(ConnectionError, ABundleThatNoDescriptorIsLeftForIsNotBlamed) {
  Request request;
  request.endpoint = {"https", "s3.example", 443};
  request.ca_bundle_path = "/etc/hostname";
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{1, usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Error error = ConnectError(request, {.curl_code = CURLE_SSL_CACERT_BADFILE});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(error.kind, ErrorKind::kResourceExhausted) << error.message;
  EXPECT_NE(error.message.find("ulimit -n"), std::string::npos) << error.message;
}

TEST(ConnectionError, ErrorWithoutCertificatesOfTheSystemNamesTheSettings) {
  Request request = To("s3.local", 9000);
  request.ca_bundle_path.clear();
  ASSERT_EQ(::setenv("SSL_CERT_FILE", "/no/such.pem", 1), 0);
  const Error error = ConnectError(request, {.curl_code = CURLE_SSL_CACERT_BADFILE});
  ASSERT_EQ(::unsetenv("SSL_CERT_FILE"), 0);
  EXPECT_EQ(error.kind, ErrorKind::kInvalidArgument);
  for (const char* part :
       {"'/no/such.pem'", "AWS_CA_BUNDLE", "SSL_CERT_FILE", "ca_bundle_path", "ca-certificates"})
    EXPECT_TRUE(Has(error, part)) << error.message;
}

TEST(ConnectionError, TruncatedBodyReportsExpectedAndReceivedBytes) {
  const Error error = Lost({.head_received = true, .received_bytes = 3, .expected_bytes = 9});
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "expected 9 bytes of body, received 3"));
}

TEST(ConnectionError, TruncatedBodyOfUnknownLengthReportsTheReceivedBytes) {
  const Error error = Lost({.detail = "why", .head_received = true, .received_bytes = 3});
  EXPECT_TRUE(Has(error, "cut short: received 3 bytes of a body of unknown length: why"))
      << error.message;
}

TEST(ConnectionError, LossBeforeTheHeadReportsTheBytesSent) {
  const Error error = Lost({.sent_bytes = 77});
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Has(error, "before a response, after 77 bytes"));
}

TEST(ConnectionError, LossNamesTheProxyWithoutItsCredentials) {
  ASSERT_EQ(::setenv("https_proxy", "http://user:secret@127.0.0.1:3128", 1), 0);
  const Error error = Lost({});
  ASSERT_EQ(::unsetenv("https_proxy"), 0);
  EXPECT_TRUE(Has(error, "connection to s3.local:9000 (through the proxy 127.0.0.1:3128) was lost"))
      << error.message;
  EXPECT_FALSE(Has(error, "secret"));
}

TEST(ConnectionError, UnknownHostIsNamedWithoutPort) {
  EXPECT_TRUE(
      Has(From({.curl_code = CURLE_COULDNT_RESOLVE_HOST}), "cannot resolve host 's3.local'"));
}

}  // namespace
}  // namespace penstock::http
