#include "client/http/reactor/exchange_runner.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "client/http/connect/connection_error.h"
#include "client/http/exchange/request_rules.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

constexpr std::size_t kScratchBytes = 16 << 10;
constexpr std::size_t kEvents = 64;
constexpr std::string_view kExchange = "the exchange of a request and its response";
constexpr std::uint64_t kWakeTag = 0;  // no connection lives at address 0

MonotonicTime Now() { return SystemClock().Monotonic(); }

}  // namespace

std::unique_ptr<ExchangeRunner> ExchangeRunner::Create(const HttpTransportOptions& options,
                                                       std::size_t max_connections, Finish finish) {
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeTag;
  if (!epoll || !wake || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0)
    return nullptr;
  return std::unique_ptr<ExchangeRunner>(new ExchangeRunner(
      options, max_connections, std::move(epoll), std::move(wake), std::move(finish)));
}

ExchangeRunner::ExchangeRunner(const HttpTransportOptions& options, std::size_t max_connections,
                               Descriptor epoll, Descriptor wake, Finish finish)
    : options_(options),
      epoll_(std::move(epoll)),
      wake_(std::move(wake)),
      finish_(std::move(finish)),
      connector_(epoll_.get(), options.resolve),
      pool_({max_connections, options.max_idle_age, options.max_lifetime}),
      events_(kEvents),
      scratch_(std::make_unique_for_overwrite<std::byte[]>(kScratchBytes)) {}

ExchangeRunner::~ExchangeRunner() = default;

// Without a proxy, reads the environment at most once per second, because reading it costs more
// than the rest of the decision.
std::optional<EnvironmentProxy> ExchangeRunner::FindProxy(const Transfer& transfer) {
  if (transfer.request.connect != nullptr && transfer.request.connect->proxy_url)
    return ProxyFor(transfer.request);
  const Endpoint& endpoint = transfer.request.endpoint;
  KnownProxies& known = proxies_[endpoint.scheme == "https" ? 1 : 0];
  if (transfer.last_activity >= known.until) {
    known.may_exist = HasProxyFor(endpoint.scheme);
    known.until = transfer.last_activity + std::chrono::seconds(1);
  }
  return known.may_exist ? ProxyFor(endpoint) : std::nullopt;
}

void ExchangeRunner::Begin(const TransferPtr& transfer) {
  if (Result<void> sendable = CheckRequest(transfer->request); !sendable.ok()) {
    return finish_(transfer, std::move(sendable).error());
  }
  std::vector<std::unique_ptr<Connection>> expired;
  const std::string peer = PeerOf(transfer->request, FindProxy(*transfer));
  Connection* idle = pool_.TakeIdle(peer, transfer->last_activity, expired);
  while (idle != nullptr && has_more_events_ && !IsSilent(*idle->socket)) {
    Drop(*idle);
    idle = pool_.TakeIdle(peer, transfer->last_activity, expired);
  }
  for (auto& connection : expired) Retire(std::move(connection));
  if (idle == nullptr) return BeginOnFresh(transfer);
  idle->transfer = transfer;
  idle->reused = idle->expects = true;
  transfer->connection = idle;
  StartExchange(*idle);
}

void ExchangeRunner::BeginOnFresh(const TransferPtr& transfer) {
  std::optional<EnvironmentProxy> proxy = FindProxy(*transfer);
  if (proxy && !proxy->fault.empty())
    return finish_(transfer, ProxyUrlError(transfer->request, *proxy));
  // So that Retire and Pause cannot fail.
  dropped_.reserve(dropped_.size() + pool_.size() + 1);
  paused_.reserve(pool_.size() + 1);
  auto fresh = std::make_unique<Connection>();
  fresh->peer = PeerOf(transfer->request, proxy);
  // libcurl's tunnels and relays need nothing.
  if (proxy && proxy->forwards && transfer->request.endpoint.scheme != "https")
    fresh->proxy = std::move(proxy);
  fresh->transfer = transfer;
  Connection& connection = pool_.Add(std::move(fresh));
  transfer->connection = &connection;
  connection.handle = connector_.Connect(transfer->request, &connection);
  if (connection.handle != nullptr) return;
  transfer->connection = nullptr;
  Drop(connection);
  finish_(transfer, Error::Make(ErrorKind::kResourceExhausted, "libcurl is out of memory"));
}

void ExchangeRunner::OnConnected(Connection& connection) {
  const TransferPtr transfer = connection.transfer;
  ConnectHandle& handle = *connection.handle;
  handle.RecordResult();
  if (handle.skipped_all()) {
    connection.handle = connector_.Connect(transfer->request, &connection, true);
    if (connection.handle != nullptr) return;
    transfer->connection = nullptr;
    Drop(connection);
    return finish_(transfer,
                   Error::Make(ErrorKind::kResourceExhausted, "libcurl is out of memory"));
  }
  const bool is_tls =
      connection.proxy ? connection.proxy->is_tls : transfer->request.endpoint.scheme == "https";
  if (is_tls) {
    if (const int fd = handle.Socket(); fd >= 0) connection.socket.emplace(handle.curl(), fd);
  } else {
    if (Descriptor socket = handle.TakeSocket()) connection.socket.emplace(std::move(socket));
  }
  if (!connection.socket) {
    Error error = handle.ErrorOf(transfer->request);
    transfer->connection = nullptr;
    Drop(connection);
    return finish_(transfer, std::move(error));
  }
  if (!is_tls) connection.handle.reset();  // the connection stays open
  connection.made = transfer->last_activity = Now();
  connection.address = PeerAddress::OfSocket(connection.socket->fd());
  StartExchange(connection);
}

void ExchangeRunner::StartExchange(Connection& connection) {
  Watch(connection, EPOLLIN);
  connection.transfer->OnConnection({connection.reused, connection.address});
  const std::uint64_t expect_from_bytes =
      connection.expects ? options_.expect_continue_from_bytes : UINT64_MAX;
  const Result<void> begun = Caught(kExchange, [&] {
    connection.exchange.Begin(*connection.transfer, expect_from_bytes, options_.turn_bytes,
                              connection.proxy ? &*connection.proxy : nullptr);
  });
  if (!begun.ok()) connection.transfer->error = begun.error();
  if (connection.transfer->error) return OnFailed(connection);
  Continue(connection, false);
  if (connection.transfer == nullptr || !connection.exchange.waits()) return;
  connection.continue_by = Now() + options_.expect_continue_timeout;
  waiting_.push_back(&connection);
}

void ExchangeRunner::Watch(Connection& connection, std::uint32_t events) {
  if (connection.watched == events) return;
  epoll_event event{};
  event.events = events;
  event.data.ptr = &connection;
  const int change = connection.watched == 0 ? EPOLL_CTL_ADD
                     : events == 0           ? EPOLL_CTL_DEL
                                             : EPOLL_CTL_MOD;
  ::epoll_ctl(epoll_.get(), change, connection.socket->fd(), &event);
  connection.watched = events;
}

void ExchangeRunner::Continue(Connection& connection, bool readable) {
  if (connection.paused_until != MonotonicTime::max()) {
    std::erase(paused_, &connection);
    connection.paused_until = MonotonicTime::max();
  }
  HandleStep(connection, RunExchange(connection, readable));
}

Exchange::Step ExchangeRunner::RunExchange(Connection& connection, bool readable) {
  try {
    // A response may make the rest of the request unnecessary.
    if (readable) {
      const Exchange::Step step =
          connection.exchange.Receive(*connection.socket, {scratch_.get(), kScratchBytes});
      if (step != Exchange::Step::kSend) return step;
    }
    return connection.exchange.Send(*connection.socket);
  } catch (...) {
    connection.transfer->OnException(kExchange);
    return Exchange::Step::kFailed;
  }
}

void ExchangeRunner::HandleStep(Connection& connection, Exchange::Step step) {
  switch (step) {
    case Exchange::Step::kReceive: return Watch(connection, EPOLLIN);
    case Exchange::Step::kSend: return Watch(connection, EPOLLIN | EPOLLOUT);
    case Exchange::Step::kPaused: return Pause(connection);
    case Exchange::Step::kAgain:
      if (!std::exchange(connection.in_ready, true)) ready_.push_back(&connection);
      return;
    case Exchange::Step::kDone: return OnDone(connection);
    case Exchange::Step::kFailed: return OnFailed(connection);
  }
}

// No event until then: the socket stays readable or writable.
void ExchangeRunner::Pause(Connection& connection) {
  Watch(connection, 0);
  if (connection.paused_until == MonotonicTime::max()) paused_.push_back(&connection);
  connection.paused_until = connection.exchange.paused_until();
}

void ExchangeRunner::OnDone(Connection& connection) {
  const TransferPtr transfer = std::move(connection.transfer);
  if (connection.exchange.refused_expect()) {
    Drop(connection);
    BeginOnFresh(transfer);
    if (transfer->connection != nullptr) transfer->connection->expects = false;
    return;
  }
  last_done_ = transfer->arrived;
  Outcome outcome = connection.exchange.TakeOutcome();
  outcome.connection_reused = connection.reused;
  transfer->connection = nullptr;
  connection.continue_by = MonotonicTime::max();
  connection.socket->SetLowWater(1);
  // poll does not see bytes inside TLS, and they must not be taken for the next response.
  if (connection.exchange.keeps_connection() &&
      (!connection.socket->buffers() || IsSilent(*connection.socket))) {
    Watch(connection, EPOLLIN);
    if (auto longest_idle = pool_.PutIdle(connection, transfer->arrived); longest_idle != nullptr)
      Retire(std::move(longest_idle));
  } else {
    Drop(connection);
  }
  if (connection.proxy && outcome.head.status == 407)
    return finish_(transfer, ProxyCredentialsError(transfer->request, *connection.proxy));
  finish_(transfer, std::move(outcome));
}

// Returns true if neither a byte nor the end of the connection can be received.
bool ExchangeRunner::IsSilent(ConnectedSocket& socket) {
  std::byte byte;
  return socket.Receive({&byte, 1}).kind == IoResult::Kind::kWouldBlock;
}

void ExchangeRunner::OnFailed(Connection& connection) {
  const TransferPtr transfer = std::move(connection.transfer);
  transfer->connection = nullptr;
  if (connection.reused && connection.exchange.may_repeat()) {
    Drop(connection);
    return BeginOnFresh(transfer);
  }
  Error error = connection.exchange.error();
  Drop(connection);
  finish_(transfer, std::move(error));
}

void ExchangeRunner::Abandon(Transfer& transfer) {
  Connection* const connection = std::exchange(transfer.connection, nullptr);
  if (connection != nullptr) Drop(*connection);
}

void ExchangeRunner::Drop(Connection& connection) { Retire(pool_.Remove(connection)); }

void ExchangeRunner::Retire(std::unique_ptr<Connection> connection) {
  if (connection->watched != 0)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection->socket->fd(), nullptr);
  connection->watched = 0;
  connection->dropped = true;
  if (connection->in_ready) std::erase(ready_, connection.get());
  if (connection->continue_by != MonotonicTime::max()) std::erase(waiting_, connection.get());
  if (connection->paused_until != MonotonicTime::max()) std::erase(paused_, connection.get());
  dropped_.push_back(std::move(connection));
}

void ExchangeRunner::CheckTimer(const TransferPtr& transfer, MonotonicTime now) {
  Connection& connection = *transfer->connection;
  // Still connecting: the connect timeout applies. Paused: the peer is not read.
  if (!connection.socket || connection.paused_until != MonotonicTime::max()) {
    transfer->last_activity = now;
  } else {
    Continue(connection, true);  // the low-water mark hides bytes that a slow peer has sent
  }
}

MonotonicTime ExchangeRunner::NextTimer() const {
  if (!ready_.empty()) return MonotonicTime();
  MonotonicTime next = std::min(connector_.timer(), pool_.next_expiry());
  for (const Connection* connection : waiting_) next = std::min(next, connection->continue_by);
  for (const Connection* connection : paused_) next = std::min(next, connection->paused_until);
  return next;
}

void ExchangeRunner::RunDue(MonotonicTime now) {
  connector_.OnTime(now);
  std::vector<Connection*> due;
  std::erase_if(waiting_, [&](Connection* connection) {
    const bool over = connection->transfer == nullptr || !connection->exchange.waits();
    if (!over && connection->continue_by > now) return false;
    connection->continue_by = MonotonicTime::max();
    if (!over) due.push_back(connection);
    return true;
  });
  for (Connection* connection : due) {
    if (connection->dropped) continue;
    connection->exchange.StopWaiting();
    Continue(*connection, false);
  }
  due.clear();
  std::ranges::copy_if(paused_, std::back_inserter(due), [&](const Connection* connection) {
    return connection->paused_until <= now;
  });
  // Those that stay paused keep their place in paused_, so that the connections take turns.
  for (Connection* connection : due) {
    if (connection->dropped || connection->paused_until == MonotonicTime::max()) continue;
    if (connection->exchange.StaysPaused()) {
      connection->paused_until = connection->exchange.paused_until();
    } else {
      Continue(*connection, true);
    }
  }
}

void ExchangeRunner::RetireExpired(MonotonicTime now) {
  std::vector<std::unique_ptr<Connection>> expired;
  pool_.TakeExpired(now, expired);
  for (auto& connection : expired) Retire(std::move(connection));
}

void ExchangeRunner::Wait(int timeout_ms) {
  const int count =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout_ms);
  seen_events_ = count > 0 ? static_cast<std::size_t>(count) : 0;
  has_more_events_ = seen_events_ == events_.size();
}

void ExchangeRunner::DropIdleWithInput() {
  if (pool_.idle() == 0) return;
  if (seen_events_ == 0 && !std::exchange(polled_, true)) Wait(0);
  for (std::size_t i = 0; i < seen_events_; ++i) {
    const epoll_event& event = events_[i];
    if (event.data.u64 == kWakeTag || Connector::FromTag(event.data.u64)) continue;
    auto& connection = *static_cast<Connection*>(event.data.ptr);
    if (!connection.dropped && connection.transfer == nullptr)
      OnConnectionEvent(connection, event.events);
  }
}

void ExchangeRunner::Work() {
  if (!std::exchange(polled_, false) && seen_events_ == 0) Wait(0);
  const std::size_t count = std::exchange(seen_events_, 0);
  for (std::size_t i = 0; i < count; ++i) OnEvent(events_[i]);
  if (connector_.timer() != MonotonicTime::max() || !waiting_.empty() || !paused_.empty())
    RunDue(Now());
  // Without events the clock is read. With events the time of the last response is close enough,
  // and reading the clock each time would cost more.
  if (pool_.idle() != 0 && pool_.next_expiry() <= (count == 0 ? Now() : last_done_))
    RetireExpired(Now());
  connector_.Finished([this](void* owner) {
    auto& connection = *static_cast<Connection*>(owner);
    if (!connection.dropped) OnConnected(connection);
  });
  for (Connection* connection : std::exchange(ready_, {})) {
    connection->in_ready = false;
    // An event in this round may have finished or dropped the connection.
    if (!connection->dropped && connection->transfer != nullptr) Continue(*connection, true);
  }
  dropped_.clear();
}

void ExchangeRunner::OnEvent(const epoll_event& event) {
  if (event.data.u64 == kWakeTag) {
    eventfd_t value = 0;
    static_cast<void>(::eventfd_read(wake_.get(), &value));
    return;
  }
  if (const auto fd = Connector::FromTag(event.data.u64))
    return connector_.OnEvents(*fd, event.events);
  auto& connection = *static_cast<Connection*>(event.data.ptr);
  if (!connection.dropped) OnConnectionEvent(connection, event.events);
}

void ExchangeRunner::OnConnectionEvent(Connection& connection, std::uint32_t events) {
  if (connection.transfer != nullptr)
    return Continue(connection, (events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0);
  // An idle connection is readable at its end, or, over TLS, for a TLS message that libcurl
  // handles.
  if (!IsSilent(*connection.socket)) Drop(connection);
}

void ExchangeRunner::Wake() { static_cast<void>(::eventfd_write(wake_.get(), 1)); }

}  // namespace penstock::http
