// Creates connections through libcurl (DNS, proxy tunnels, TLS) and hands them over when connected.
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

// A libcurl handle that connects or is connected. Destruction closes the connection.
class ConnectHandle {
 public:
  ConnectHandle(DirectConnector& connector, CURL* handle)
      : connector_(connector), handle_(handle) {}
  ~ConnectHandle();
  ConnectHandle(const ConnectHandle&) = delete;
  ConnectHandle& operator=(const ConnectHandle&) = delete;

  CURL* get() const { return handle_; }
  // The socket, once connected. -1: the connection is gone.
  int Socket() const;
  CurlFailure Failure(CURLcode code) const;
  // Records the result for the addresses that were tried. Failed addresses are skipped for a while
  // (address_circuit_breaker.h).
  void RecordResult(CURLcode code) const;
  // True if the attempt failed because every address was skipped.
  bool skipped_all() const { return skipped_ && tried_.empty(); }
  const std::vector<PeerAddress>& tried() const { return tried_; }

 private:
  friend class DirectConnector;
  DirectConnector& connector_;
  CURL* const handle_;
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);

  void* owner_ = nullptr;
  bool tries_all_ = false;
  bool skipped_ = false;            // at least one address was skipped
  int sockets_ = 0;                 // sockets that libcurl waits for
  std::vector<PeerAddress> tried_;  // in this order
  std::string url_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
};

// Thread safety: belongs to one I/O thread. Adds the descriptors of connections in progress to the
// thread's epoll set, tagged by Tag().
class DirectConnector {
 public:
  // `share` must outlive this object, and this object every handle. `resolve` as in
  // HttpTransportOptions.
  DirectConnector(CURLSH* share, std::size_t max_connections, int epoll_fd,
                  const std::vector<std::string>& resolve = {});
  ~DirectConnector();
  DirectConnector(const DirectConnector&) = delete;
  DirectConnector& operator=(const DirectConnector&) = delete;

  // Converts a descriptor to epoll_event.data.u64, and back.
  static std::uint64_t Tag(int fd) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(fd)) << 1 | 1;
  }
  static std::optional<int> FromTag(std::uint64_t tag);

  // Starts to connect. Finished() reports the result with `owner`. Returns null if libcurl is out
  // of memory. `tries_all`: also tries addresses that failed recently.
  std::unique_ptr<ConnectHandle> Connect(const Request& request, void* owner,
                                         bool tries_all = false);

  void OnEvents(int fd, std::uint32_t events);
  void OnTime(MonotonicTime now);
  MonotonicTime timer() const { return timer_; }  // when OnTime is due; max(): never

  // Calls `callback` for every attempt that ended since the last call.
  void Finished(const std::function<void(void* owner, CURLcode code)>& callback);

 private:
  friend class ConnectHandle;
  static int OnSocket(CURL* handle, curl_socket_t fd, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);
  void TryNextAddresses();

  CURLSH* const share_;
  const ResolveList resolve_;
  const int epoll_fd_;
  CURLM* const multi_;
  MonotonicTime timer_ = MonotonicTime::max();
  // Handles that lost a socket or skipped an address since the last check.
  std::vector<ConnectHandle*> lost_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTOR_H_
