// The fast data plane of one I/O thread: requests written and responses received by our own code,
// on connections that libcurl made.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_PLANE_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_PLANE_H_

#include <curl/curl.h>
#include <sys/epoll.h>

#include <cstddef>
#include <functional>
#include <memory>
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

  // Null: no descriptor left. `options` and `share` outlive it; `finish` is told how a transfer
  // ended, and may be in the middle of Begin, Work or CheckTimer. What it is told of is no longer
  // the plane's.
  static std::unique_ptr<DirectPlane> Create(const HttpTransportOptions& options, CURLSH* share,
                                             std::size_t max_connections, Finish finish);
  ~DirectPlane();
  DirectPlane(const DirectPlane&) = delete;
  DirectPlane& operator=(const DirectPlane&) = delete;

  // Whether this plane can carry it. False: a proxy of the environment's may be in the way.
  static bool Carries(const Request& request);

  void Begin(const TransferPtr& transfer);
  // The transfer ends for another reason; its connection is closed.
  void Abandon(Transfer& transfer);
  // The transfer's idle time may be over. What waits on its socket is taken first.
  void CheckTimer(const TransferPtr& transfer, MonotonicTime now);

  // Closes the idle connections on which bytes, or the end, have arrived: those bytes are no
  // response to a later request. Before Begin.
  void DropIdleWithInput();
  // Does what can be done without waiting.
  void Work();
  // When Work has something to do whatever the sockets say; max(): never.
  MonotonicTime NextTimer() const;
  // Readable when Work has something to do.
  int fd() const { return epoll_.fd; }
  // Waits for that, for up to so many milliseconds.
  void Wait(int timeout_ms);
  // From any thread: ends a Wait, now or next.
  void Wake();

 private:
  DirectPlane(const HttpTransportOptions& options, CURLSH* share, std::size_t max_connections,
              int epoll_fd, int wake_fd, Finish finish);

  void BeginOnFresh(const TransferPtr& transfer);
  void OnConnected(DirectConnection& connection, CURLcode code);
  void StartExchange(DirectConnection& connection);
  void OnEvent(const epoll_event& event);
  void OnConnectionEvent(DirectConnection& connection, std::uint32_t events);
  void GoOn(DirectConnection& connection, bool readable);
  DirectExchange::Step Move(DirectConnection& connection, bool readable);
  void Follow(DirectConnection& connection, DirectExchange::Step step);
  void OnDone(DirectConnection& connection);
  void OnFailed(DirectConnection& connection);
  static bool IsSilent(DirectSocket& socket);
  void Watch(DirectConnection& connection, std::uint32_t events);
  // Out of the pool; it dies when nobody up the stack can look at it any more.
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
  const Descriptor epoll_;  // first: the connector takes descriptors out of it to the end
  const Descriptor wake_;
  const Finish finish_;
  DirectConnector connector_;
  DirectPool pool_;
  std::vector<DirectConnection*> again_;    // have more to do at once
  std::vector<DirectConnection*> waiting_;  // for 100 Continue
  std::vector<std::unique_ptr<DirectConnection>> dropped_;
  std::vector<epoll_event> events_;
  std::size_t seen_events_ = 0;  // of events_, by Wait
  bool looked_ = false;          // for events, since the last Work
  MonotonicTime last_done_{};    // when the last response was there
  const std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_PLANE_H_
