// The sockets of libcurl's plane: libcurl tells which one a request uses only when that has ended.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_CURL_SOCKETS_H_
#define PENSTOCK_CLIENT_HTTP_CURL_CURL_SOCKETS_H_

#include <curl/curl.h>

#include <optional>
#include <utility>
#include <vector>

namespace penstock::http {

// Knows every socket that the handles it was installed in have open. Outlives these handles and
// their connections.
//
// Thread safety: belongs to one I/O thread.
class CurlSockets {
 public:
  void Install(CURL* handle);
  // The one that the handle's request is on, told by its two ends; nullopt where it has none yet.
  std::optional<int> Of(CURL* handle) const;
  // Whether bytes wait on one of them; the end of a connection is none. Asked where no request is
  // on any: such bytes are no response to a request of ours, and libcurl would take them for the
  // next one.
  bool HaveInput() const;
  // Whether one was closed since the last time. It may have been refused, and libcurl, run at once,
  // tries the next address; by itself it waits for its timer (direct_connector.cc).
  bool TakeClosed() { return std::exchange(closed_, false); }

 private:
  static curl_socket_t OnOpen(void* self, curlsocktype, curl_sockaddr* address);
  static int OnClose(void* self, curl_socket_t fd);

  std::vector<int> open_;
  bool closed_ = false;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_SOCKETS_H_
