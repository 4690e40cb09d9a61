// Runs the exchanges of one I/O thread on pooled connections, driven by epoll.
#ifndef PENSTOCK_CLIENT_HTTP_REACTOR_EXCHANGE_RUNNER_H_
#define PENSTOCK_CLIENT_HTTP_REACTOR_EXCHANGE_RUNNER_H_

#include <sys/epoll.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/io/descriptor.h"
#include "client/http/connect/connector.h"
#include "client/http/exchange/connection.h"
#include "client/http/exchange/transfer.h"
#include "client/http/reactor/connection_pool.h"
#include "client/http/reactor/http_transport.h"

namespace penstock::http {

// Thread safety: belongs to one I/O thread, except Wake.
class ExchangeRunner {
 public:
  using Finish = std::function<void(const TransferPtr&, Result<Outcome>)>;

  // Returns null if no descriptor is left. `options` must outlive it. `finish` receives the result
  // of each transfer, possibly during Begin, Work or CheckTimer. The runner does not use the
  // transfer afterwards.
  static std::unique_ptr<ExchangeRunner> Create(const HttpTransportOptions& options,
                                                std::size_t max_connections, Finish finish);
  ~ExchangeRunner();
  ExchangeRunner(const ExchangeRunner&) = delete;
  ExchangeRunner& operator=(const ExchangeRunner&) = delete;

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
  // Waits until Work has something to do, at most `timeout_ms`.
  void Wait(int timeout_ms);
  // Ends the current or next Wait. Thread safety: any thread.
  void Wake();

 private:
  ExchangeRunner(const HttpTransportOptions& options, std::size_t max_connections, Descriptor epoll,
                 Descriptor wake, Finish finish);

  // Returns the proxy of the request, if any.
  std::optional<EnvironmentProxy> FindProxy(const Transfer& transfer);
  void BeginOnFresh(const TransferPtr& transfer);
  void OnConnected(Connection& connection);
  void StartExchange(Connection& connection);
  void OnEvent(const epoll_event& event);
  void OnConnectionEvent(Connection& connection, std::uint32_t events);
  void Continue(Connection& connection, bool readable);
  Exchange::Step RunExchange(Connection& connection, bool readable);
  void HandleStep(Connection& connection, Exchange::Step step);
  void Pause(Connection& connection);
  void OnDone(Connection& connection);
  void OnFailed(Connection& connection);
  static bool IsSilent(ConnectedSocket& socket);
  void Watch(Connection& connection, std::uint32_t events);
  // Removes the connection from the pool. It is destroyed once no caller on the stack can use it.
  void Drop(Connection& connection);
  void Retire(std::unique_ptr<Connection> connection);
  void RunDue(MonotonicTime now);
  void RetireExpired(MonotonicTime now);

  // Whether the environment may name a proxy for a scheme.
  struct KnownProxies {
    bool may_exist = false;
    MonotonicTime until{};  // the environment is read again at this time
  };

  const HttpTransportOptions& options_;
  // First: the connector removes descriptors from it until its destruction.
  const Descriptor epoll_;
  const Descriptor wake_;
  const Finish finish_;
  Connector connector_;
  ConnectionPool pool_;
  std::vector<Connection*> ready_;    // have more to do immediately
  std::vector<Connection*> waiting_;  // for 100 Continue
  std::vector<Connection*> paused_;   // by the rate of their client; the first is served first
  std::vector<std::unique_ptr<Connection>> dropped_;
  std::vector<epoll_event> events_;
  std::size_t seen_events_ = 0;   // in events_, from Wait
  bool has_more_events_ = false;  // the last Wait may have left events of idle connections
  bool polled_ = false;           // events were polled since the last Work
  MonotonicTime last_done_{};     // when the last response ended
  KnownProxies proxies_[2];       // for "http" and "https"
  const std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_REACTOR_EXCHANGE_RUNNER_H_
