// The direct data plane of one I/O thread: writes requests and reads responses itself, on
// connections that libcurl made.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_PLANE_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_PLANE_H_

#include <curl/curl.h>
#include <sys/epoll.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/http/curl/http_transport.h"
#include "client/http/direct/direct_connection.h"
#include "client/http/direct/direct_connector.h"
#include "client/http/direct/direct_pool.h"
#include "client/http/transfer.h"

namespace penstock::http {

// Thread safety: belongs to one I/O thread, except Wake.
class DirectPlane {
 public:
  using Finish = std::function<void(const TransferPtr&, Result<Outcome>)>;

  // Returns null if no descriptor is left. `options` and `share` must outlive it. `finish` receives
  // the result of each transfer, possibly during Begin, Work or CheckTimer. The plane does not use
  // the transfer afterwards.
  static std::unique_ptr<DirectPlane> Create(const HttpTransportOptions& options, CURLSH* share,
                                             std::size_t max_connections, Finish finish);
  ~DirectPlane();
  DirectPlane(const DirectPlane&) = delete;
  DirectPlane& operator=(const DirectPlane&) = delete;

  void Begin(const TransferPtr& transfer);
  // The transfer ends for another reason. Closes its connection.
  void Abandon(Transfer& transfer);
  // Called when the idle timeout may be over. Reads the available bytes first.
  void CheckTimer(const TransferPtr& transfer, MonotonicTime now);

  // Closes idle connections with readable bytes or a closed peer: the bytes are not a response to a
  // later request. Call it before Begin.
  void DropIdleWithInput();
  // Does all work that does not block.
  void Work();
  // Returns when Work is due without a socket event; max(): never.
  MonotonicTime NextTimer() const;
  // Readable when Work has something to do.
  int fd() const { return epoll_.fd; }
  // Waits for that, at most `timeout_ms`.
  void Wait(int timeout_ms);
  // Ends the current or next Wait. Thread safety: any thread.
  void Wake();

 private:
  DirectPlane(const HttpTransportOptions& options, CURLSH* share, std::size_t max_connections,
              int epoll_fd, int wake_fd, Finish finish);

  // Returns the proxy that forwards the request, if any. libcurl's tunnels and relays need nothing.
  std::optional<EnvironmentProxy> ForwardingProxy(const Transfer& transfer);
  void BeginOnFresh(const TransferPtr& transfer);
  void OnConnected(DirectConnection& connection, CURLcode code);
  void StartExchange(DirectConnection& connection);
  void OnEvent(const epoll_event& event);
  void OnConnectionEvent(DirectConnection& connection, std::uint32_t events);
  void Continue(DirectConnection& connection, bool readable);
  DirectExchange::Step RunExchange(DirectConnection& connection, bool readable);
  void HandleStep(DirectConnection& connection, DirectExchange::Step step);
  void OnDone(DirectConnection& connection);
  void OnFailed(DirectConnection& connection);
  static bool HasNoInput(DirectSocket& socket);
  void Watch(DirectConnection& connection, std::uint32_t events);
  // Removes the connection from the pool. It is destroyed once no caller on the stack can use it.
  void Drop(DirectConnection& connection);
  void Retire(std::unique_ptr<DirectConnection> connection);
  void RunDue(MonotonicTime now);
  void RetireExpired(MonotonicTime now);

  struct Descriptor {
    explicit Descriptor(int owned) : fd(owned) {}
    ~Descriptor();
    const int fd;
  };

  const HttpTransportOptions& options_;
  // First: the connector removes descriptors from it until its destruction.
  const Descriptor epoll_;
  const Descriptor wake_;
  const Finish finish_;
  DirectConnector connector_;
  DirectPool pool_;
  std::vector<DirectConnection*> ready_;    // have more to do immediately
  std::vector<DirectConnection*> waiting_;  // for 100 Continue
  std::vector<std::unique_ptr<DirectConnection>> dropped_;
  std::vector<epoll_event> events_;
  std::size_t seen_events_ = 0;        // in events_, from Wait
  bool polled_ = false;                // events were polled since the last Work
  MonotonicTime last_done_{};          // when the last response ended
  bool may_forward_ = false;           // the environment may name a proxy for unencrypted requests
  MonotonicTime may_forward_until_{};  // the environment is read again at this time
  const std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_PLANE_H_
