// Creates connections through libcurl (DNS, proxy tunnels, TLS) and hands them over when connected.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTOR_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/io/descriptor.h"
#include "client/http/transport.h"

namespace penstock::http {

class Connector;

// A libcurl handle that connects or is connected. Destruction closes the connection.
class ConnectHandle {
 public:
  ConnectHandle(Connector& connector, void* curl) : connector_(connector), curl_(curl) {}
  ~ConnectHandle();
  ConnectHandle(const ConnectHandle&) = delete;
  ConnectHandle& operator=(const ConnectHandle&) = delete;

  void* curl() const { return curl_; }  // libcurl's CURL
  // Returns a second descriptor of the connected socket. None: connecting has failed, and ErrorOf()
  // has the cause. libcurl closes its own descriptor when it takes the connection for dead or
  // expired, at a time when another connection is made. The number of that descriptor may then
  // belong to any other file, so only libcurl uses it.
  Descriptor DuplicateSocket();
  // `request` as in Connect.
  Error ErrorOf(const Request& request) const;
  // Records the result for the addresses that were tried. Failed addresses are skipped for a while
  // (address_circuit_breaker.h).
  void RecordResult() const;
  // True if the attempt failed because every address was skipped.
  bool skipped_all() const { return skipped_ && tried_.empty(); }
  const std::vector<PeerAddress>& tried() const { return tried_; }

 private:
  friend class Connector;
  struct Callbacks;  // what libcurl calls

  int Socket() const;  // libcurl's descriptor; -1: not connected

  static constexpr std::size_t kErrorTextBytes = 256;  // CURL_ERROR_SIZE

  Connector& connector_;
  void* const curl_;
  void* owner_ = nullptr;
  bool tries_all_ = false;
  bool skipped_ = false;     // at least one address was skipped
  int code_ = 0;             // libcurl's result of the attempt
  int duplicate_error_ = 0;  // errno of DuplicateSocket
  int sockets_ = 0;          // sockets that libcurl waits for
  int tunnel_status_ = 0;    // of the proxy's response to CONNECT; 0: none
  std::size_t tunnel_head_bytes_ = 0;
  std::vector<PeerAddress> tried_;  // in this order
  std::string url_;
  std::array<char, kErrorTextBytes> error_text_{};
};

// Connections of one thread share TLS sessions.
//
// Thread safety: belongs to one I/O thread. Adds the descriptors of connections in progress to the
// thread's epoll set, tagged by Tag().
class Connector {
 public:
  // This object must outlive its handles. `resolve` as in HttpTransportOptions.
  Connector(std::size_t max_connections, int epoll_fd,
            const std::vector<std::string>& resolve = {});
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

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

  // Calls `callback` with the owner of every attempt that ended since the last call.
  void Finished(const std::function<void(void* owner)>& callback);

 private:
  friend class ConnectHandle;
  friend struct ConnectHandle::Callbacks;
  void SetOptions(ConnectHandle& handle, const Request& request);
  void TryNextAddresses();

  const int epoll_fd_;
  void* const multi_;        // libcurl's CURLM; null: out of memory
  void* const share_;        // libcurl's CURLSH; null: no TLS session is resumed
  void* resolve_ = nullptr;  // libcurl's curl_slist: fixed addresses of host names
  MonotonicTime timer_ = MonotonicTime::max();
  // Handles that lost a socket or skipped an address since the last check.
  std::vector<ConnectHandle*> lost_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTOR_H_
