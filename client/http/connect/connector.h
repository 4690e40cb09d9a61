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
#include <unordered_map>
#include <vector>

#include "base/io/descriptor.h"
#include "client/http/connect/authority_store.h"
#include "client/http/transport.h"

namespace penstock::http {

class Connector;

// A libcurl handle that connects or is connected. Destruction closes the connection.
//
// Each handle has a multi handle of its own. When libcurl makes a connection, it closes other
// connections of the same multi handle, also some that are in use (decision 0018).
class ConnectHandle {
 public:
  ~ConnectHandle();
  ConnectHandle(const ConnectHandle&) = delete;
  ConnectHandle& operator=(const ConnectHandle&) = delete;

  void* curl() const { return curl_; }  // libcurl's CURL
  // The socket, once connected. -1: connecting has failed.
  int Socket() const;
  // Passes the connected socket on: it stays open after this handle's destruction, which is the
  // only permitted next step. None: connecting has failed.
  Descriptor TakeSocket();
  // Returns why there is no socket after the attempt. `request` as in Connect.
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

  ConnectHandle(Connector& connector, void* multi, void* curl)
      : connector_(connector), multi_(multi), curl_(curl) {}

  // Runs libcurl for an event of `fd`, or for its timer.
  void Run(int fd, int events);
  void TryNextAddress();

  static constexpr std::size_t kErrorTextBytes = 256;  // CURL_ERROR_SIZE

  Connector& connector_;
  void* const multi_;  // libcurl's CURLM
  void* const curl_;
  // Shared with the connector and other handles. Null: a connection without TLS.
  std::shared_ptr<AuthorityStore> authorities_;
  void* owner_ = nullptr;
  MonotonicTime timer_ = MonotonicTime::max();  // when libcurl wants to run
  bool tries_all_ = false;
  bool reads_ahead_ = false;   // over TLS (tls_read_ahead.h)
  bool skipped_ = false;       // at least one address was skipped
  bool reached_peer_ = false;  // a socket that was closed had been connected
  bool lost_ = false;          // lost a socket or skipped an address since TryNextAddress
  int code_ = 0;               // libcurl's result of the attempt
  int taken_ = -1;             // the socket that TakeSocket has returned
  int tunnel_status_ = 0;      // of the proxy's response to CONNECT; 0: none
  std::size_t tunnel_head_bytes_ = 0;
  std::vector<int> sockets_;        // that libcurl waits for
  std::vector<PeerAddress> tried_;  // in this order
  std::string url_;
  std::array<char, kErrorTextBytes> error_text_{};
};

// Connections of one thread with equal authorities share the parsed certificates and TLS sessions.
//
// Thread safety: belongs to one I/O thread. Adds the descriptors of connections in progress to the
// thread's epoll set, tagged by Tag().
class Connector {
 public:
  // This object must outlive its handles. `resolve` as in HttpTransportOptions.
  explicit Connector(int epoll_fd, const std::vector<std::string>& resolve = {});
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
  void SetTlsOptions(ConnectHandle& handle, const Request& request);
  std::shared_ptr<AuthorityStore> FindStore(const std::string& bundle_path,
                                            const std::string& directory_path);

  static constexpr std::size_t kMaxStores = 8;  // clients with other authorities replace the oldest

  const int epoll_fd_;
  std::vector<std::shared_ptr<AuthorityStore>> stores_;
  void* resolve_ = nullptr;  // libcurl's curl_slist: fixed addresses of host names
  MonotonicTime timer_ = MonotonicTime::max();
  std::vector<ConnectHandle*> connecting_;
  std::vector<ConnectHandle*> finished_;  // since the last Finished()
  std::unordered_map<int, ConnectHandle*> by_socket_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTOR_H_
