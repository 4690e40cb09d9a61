// Makes TLS connections for one request each, and prints their cost as one JSON line.
//
//   bench_client_connections penstock HOST PORT BUNDLE WARM_UP COUNT IN_FLIGHT
//   bench_client_connections libcurl|openssl HOST PORT BUNDLE WARM_UP COUNT
//
// HOST is an IP address, and the server's certificate is in BUNDLE. All programs verify it, resume
// the session of the connection before, and ask the server to close. libcurl uses a new handle for
// each request, all on one multi handle, which may keep the parsed bundle. openssl uses one context
// for all. WARM_UP connections precede the measured ones. CPU is user plus system time of this
// process.
#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>

#include "bench/clients/connect.h"
#include "bench/clients/cost.h"
#include "client/http/reactor/http_transport.h"

namespace {

using penstock::bench::CpuSeconds;
using penstock::bench::Fail;
namespace http = penstock::http;

struct Server {
  const char* host;
  const char* port;
  const char* bundle;
};

class Discarded final : public http::ResponseBody {
 public:
  penstock::Result<void> Begin(const http::ResponseHead&) override { return penstock::Ok(); }
  penstock::MutableByteView Window() override { return memory_; }
  penstock::Result<void> Commit(std::size_t) override { return penstock::Ok(); }

 private:
  std::array<std::byte, 16 << 10> memory_;
};

class PenstockConnections {
 public:
  PenstockConnections(const Server& server, int in_flight) : in_flight_(in_flight) {
    request_.method = "GET";
    request_.endpoint = {"https", server.host, std::atoi(server.port)};
    request_.target = "/";
    request_.headers = {{"Host", std::string(server.host) + ":" + server.port},
                        {"Connection", "close"}};
    request_.ca_bundle_path = server.bundle;
  }
  // Returns how many connections failed.
  int Run(int count) {
    std::counting_semaphore<> free(in_flight_);
    std::atomic<int> failed{0};
    for (int i = 0; i < count; ++i) {
      free.acquire();
      auto body = std::make_shared<Discarded>();
      transport_->Start(request_, nullptr, body.get(), {},
                        [&, body](const penstock::Result<http::Outcome>& outcome) {
                          if (!outcome.ok()) Report(outcome.error().message, failed);
                          free.release();
                        });
    }
    for (int i = 0; i < in_flight_; ++i) free.acquire();
    return failed;
  }

 private:
  static void Report(const std::string& message, std::atomic<int>& failed) {
    if (failed.fetch_add(1) == 0) std::fprintf(stderr, "first failure: %s\n", message.c_str());
  }

  const int in_flight_;
  http::Request request_;
  const std::shared_ptr<http::Transport> transport_ = http::MakeHttpTransport({});
};

class CurlConnections {
 public:
  explicit CurlConnections(const Server& server)
      : url_("https://" + std::string(server.host) + ":" + server.port + "/"),
        bundle_(server.bundle) {
    headers_ = curl_slist_append(nullptr, "Connection: close");
  }
  ~CurlConnections() {
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }
  CurlConnections(const CurlConnections&) = delete;
  CurlConnections& operator=(const CurlConnections&) = delete;

  int Run(int count) {
    for (int i = 0; i < count; ++i) Connect();
    return 0;
  }

 private:
  static std::size_t OnReceived(char*, std::size_t, std::size_t count, void*) { return count; }

  void Connect() {
    CURL* const curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &OnReceived);
    curl_easy_setopt(curl, CURLOPT_CAINFO, bundle_);
    curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);  // libcurl keeps no bundle beside a directory
    curl_multi_add_handle(multi_, curl);
    for (int running = 1; running > 0;) {
      curl_multi_perform(multi_, &running);
      if (running > 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
    int queued = 0;
    const CURLMsg* const message = curl_multi_info_read(multi_, &queued);
    if (message == nullptr || message->data.result != CURLE_OK) Fail("libcurl has failed");
    curl_multi_remove_handle(multi_, curl);
    curl_easy_cleanup(curl);
  }

  const std::string url_;
  const char* const bundle_;
  curl_slist* headers_ = nullptr;
  CURLM* const multi_ = curl_multi_init();
};

class OpenSslConnections {
 public:
  explicit OpenSslConnections(const Server& server) : server_(server) {
    if (SSL_CTX_load_verify_file(context_, server.bundle) != 1) Fail("cannot read the bundle");
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    request_ = "GET / HTTP/1.1\r\nHost: " + std::string(server.host) + ":" + server.port +
               "\r\nConnection: close\r\n\r\n";
  }
  ~OpenSslConnections() {
    SSL_SESSION_free(session_);
    SSL_CTX_free(context_);
  }
  OpenSslConnections(const OpenSslConnections&) = delete;
  OpenSslConnections& operator=(const OpenSslConnections&) = delete;

  int Run(int count) {
    for (int i = 0; i < count; ++i) Connect();
    return 0;
  }

 private:
  void Connect() {
    const int socket = penstock::bench::Connect(server_.host, std::atoi(server_.port));
    SSL* const tls = SSL_new(context_);
    SSL_set_fd(tls, socket);
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), server_.host);
    if (session_ != nullptr) SSL_set_session(tls, session_);
    if (SSL_connect(tls) != 1) Fail("no TLS");
    if (SSL_write(tls, request_.data(), static_cast<int>(request_.size())) <= 0)
      Fail("SSL_write failed");
    std::array<char, 16 << 10> piece;
    int total = 0, count = 0;
    while ((count = SSL_read(tls, piece.data(), piece.size())) > 0) total += count;
    if (total == 0) Fail("no response");
    SSL_SESSION_free(session_);
    session_ = SSL_get1_session(tls);
    SSL_shutdown(tls);
    SSL_free(tls);
    ::close(socket);
  }

  const Server server_;
  SSL_CTX* const context_ = SSL_CTX_new(TLS_client_method());
  SSL_SESSION* session_ = nullptr;
  std::string request_;
};

template <class Connections>
void Measure(Connections& connections, int warm_up, int count) {
  connections.Run(warm_up);
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  const int failed = connections.Run(count);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("{\"seconds\": %.6f, \"cpu_ms\": %.6f, \"failed\": %d}\n", seconds,
              (CpuSeconds() - cpu) * 1e3 / count, failed);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view client = argc > 1 ? argv[1] : "";
  const bool is_penstock = client == "penstock" && argc == 8;
  if (!is_penstock && !((client == "libcurl" || client == "openssl") && argc == 7))
    Fail("see the head of client_connections.cc");
  const Server server{argv[2], argv[3], argv[4]};
  const int warm_up = std::atoi(argv[5]);
  const int count = std::atoi(argv[6]);
  if (is_penstock) {
    PenstockConnections connections(server, std::atoi(argv[7]));
    Measure(connections, warm_up, count);
  } else if (client == "libcurl") {
    CurlConnections connections(server);
    Measure(connections, warm_up, count);
  } else {
    OpenSslConnections connections(server);
    Measure(connections, warm_up, count);
  }
  return 0;
}
