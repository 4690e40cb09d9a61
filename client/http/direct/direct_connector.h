// Makes connections through libcurl (names, proxies' tunnels, TLS) and hands them over connected.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTOR_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTOR_H_

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/http/curl/curl_error.h"
#include "client/http/curl/curl_options.h"
#include "client/http/transport.h"

namespace penstock::http {

class DirectConnector;

// A libcurl handle that connects, or has connected. Its end closes the connection.
class ConnectHandle {
 public:
  ConnectHandle(DirectConnector& connector, CURL* handle)
      : connector_(connector), handle_(handle) {}
  ~ConnectHandle();
  ConnectHandle(const ConnectHandle&) = delete;
  ConnectHandle& operator=(const ConnectHandle&) = delete;

  CURL* get() const { return handle_; }
  // Once connected. -1: the connection is gone.
  int Socket() const;
  CurlFailure Failure(CURLcode code) const;
  // How it went, for the addresses that were tried: those that failed are passed over for a while
  // (address_circuit_breaker.h).
  void RecordResult(CURLcode code) const;
  // It failed because every address was passed over: none was tried.
  bool passed_all_over() const { return passed_over_ && tried_.empty(); }
  const std::vector<PeerAddress>& tried() const { return tried_; }

 private:
  friend class DirectConnector;
  DirectConnector& connector_;
  CURL* const handle_;
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);

  void* owner_ = nullptr;
  bool tries_all_ = false;
  bool passed_over_ = false;        // some address
  int sockets_ = 0;                 // that libcurl waits for
  std::vector<PeerAddress> tried_;  // in that order
  std::string url_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
};

// Thread safety: belongs to one I/O thread, whose epoll set it fills: with the descriptors of
// connections that are being made, tagged as Tag says.
class DirectConnector {
 public:
  // `share` outlives this, and this every handle. `resolve` as in HttpTransportOptions.
  DirectConnector(CURLSH* share, std::size_t max_connections, int epoll_fd,
                  const std::vector<std::string>& resolve = {});
  ~DirectConnector();
  DirectConnector(const DirectConnector&) = delete;
  DirectConnector& operator=(const DirectConnector&) = delete;

  // epoll_event.data.u64 of a descriptor, and back.
  static std::uint64_t Tag(int fd) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(fd)) << 1 | 1;
  }
  static std::optional<int> FromTag(std::uint64_t tag);

  // Begins to connect; how it went is Finished's to say, with `owner`. Null: libcurl has no memory.
  // `tries_all`: also addresses that failed of late.
  std::unique_ptr<ConnectHandle> Connect(const Request& request, void* owner,
                                         bool tries_all = false);

  void OnEvents(int fd, std::uint32_t events);
  void OnTime(MonotonicTime now);
  MonotonicTime timer() const { return timer_; }  // when OnTime is due; max(): never

  // Calls back for every attempt that ended since the last time.
  void Finished(const std::function<void(void* owner, CURLcode code)>& told);

 private:
  friend class ConnectHandle;
  static int OnSocket(CURL* handle, curl_socket_t fd, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);
  void HaveNextAddressTried();

  CURLSH* const share_;
  const ResolveList resolve_;
  const int epoll_fd_;
  CURLM* const multi_;
  MonotonicTime timer_ = MonotonicTime::max();
  std::vector<ConnectHandle*> lost_;  // an address, of late
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTOR_H_
