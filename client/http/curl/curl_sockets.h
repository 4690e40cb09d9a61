// The sockets of libcurl's data plane. libcurl reports the socket of a request only after the
// request has ended.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_CURL_SOCKETS_H_
#define PENSTOCK_CLIENT_HTTP_CURL_CURL_SOCKETS_H_

#include <curl/curl.h>

#include <optional>
#include <utility>
#include <vector>

namespace penstock::http {

// Tracks all open sockets of the handles that it was installed in. Must outlive these handles and
// their connections.
//
// Thread safety: belongs to one I/O thread.
class CurlSockets {
 public:
  void Install(CURL* handle);
  // Returns the socket of the handle's request, found by its two addresses. Nullopt if it has no
  // connection yet.
  std::optional<int> Of(CURL* handle) const;
  // Returns whether a socket has readable bytes; the end of a connection does not count. Call it
  // while no request uses the sockets: such bytes are not a response, but libcurl would take them
  // for the next one.
  bool HaveInput() const;
  // Returns whether a socket was closed since the last call. The connection may have been refused.
  // libcurl tries the next address at once if it runs again now, otherwise only when its timer is
  // due (direct_connector.cc).
  bool TakeClosed() { return std::exchange(closed_, false); }

 private:
  static curl_socket_t OnOpen(void* self, curlsocktype, curl_sockaddr* address);
  static int OnClose(void* self, curl_socket_t fd);

  std::vector<int> open_;
  bool closed_ = false;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_CURL_SOCKETS_H_
