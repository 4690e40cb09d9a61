#include "emulator/http/engine.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <system_error>
#include <utility>

#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

// Interval between samples of the load while all threads are busy.
constexpr milliseconds kTick{2};
// Ticks with an idle thread after which the supervisor stops sampling.
constexpr int kCalmTicks = 50;
// Ticks for which no threads are added while the existing ones use the processors.
constexpr int kBusyTicks = 16;
// Longest interval between checks for expired waits.
constexpr milliseconds kMaxSweep{1'000};
constexpr milliseconds kMinSweep{5};
constexpr milliseconds kStopRound{10};
constexpr milliseconds kMaxGrace{3'600'000};
// Requests in progress are cancelled this long before the end of the grace period, at most after
// half of it, so that their responses can be sent. This ends waits for request bodies too.
constexpr milliseconds kTimeToRespond{1'000};
constexpr int kMaxConnectionsBeforeTask =
    32;  // connections that a thread serves before a waiting task

constinit DiagnosticEvent connection_failed("wire.connection_failed");
constinit DiagnosticEvent no_descriptor_left("wire.descriptors_kept_back");
constinit DiagnosticEvent thread_not_started("wire.thread_not_started");

// Connections use only descriptors below this number. The system assigns the lowest free
// descriptor, so at least this many are in use when it is reached. The rest are reserved for stores
// and spooled bodies; idle connections must not make other requests fail.
int ConnectionDescriptorLimit() {
  constexpr rlim_t kMaxReserved = 256;
  constexpr rlim_t kNoLimit = 1 << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<int>::max();
  const rlim_t all = std::min(limit.rlim_cur, kNoLimit);
  return static_cast<int>(all - std::min(all / 4, kMaxReserved));
}

// accept() takes its descriptor when it begins to wait, so that the number can be from a time with
// more descriptors in use. Returns the lowest free one instead.
int LowestDescriptor(int fd) {
  const int lowest = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (lowest < 0) return fd;
  ::close(fd);
  return lowest;
}

MonotonicTime Now() { return std::chrono::steady_clock::now(); }

// Makes an eventfd readable.
void SetEvent(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
}

int Processors() {
  // Static: the library reads a file on every call.
  static const unsigned count = std::max(std::thread::hardware_concurrency(), 1u);
  return static_cast<int>(count);
}

// CPU time used by all threads of the process so far.
std::chrono::nanoseconds ProcessorTime() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Closes an accepted socket when an exception is thrown before it has an owner.
class SocketGuard {
 public:
  explicit SocketGuard(int fd) : fd_(fd) {}
  ~SocketGuard() {
    if (fd_ >= 0) ::close(fd_);
  }
  SocketGuard(const SocketGuard&) = delete;
  SocketGuard& operator=(const SocketGuard&) = delete;
  void Owned() { fd_ = -1; }

 private:
  int fd_;
};

// yield_to_clients takes effect from this number of connections on. With fewer, the client mostly
// waits for the next response.
constexpr std::size_t kYieldConnections = 16;

// Sets whether the calling thread, when a request wakes it, waits for a processor instead of
// preempting the running thread. On one machine that thread is often the client, which can then
// send its next requests. Real-time threads are not changed.
void YieldToClients(bool yield) {
  const int policy = ::sched_getscheduler(0);  // of the calling thread
  if (policy != SCHED_OTHER && policy != SCHED_BATCH) return;
  const sched_param lowest{};
  ::pthread_setschedparam(::pthread_self(), yield ? SCHED_BATCH : SCHED_OTHER, &lowest);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Start(EngineOptions options) {
  std::unique_ptr<Engine> engine(new Engine(std::move(options)));
  PENSTOCK_TRY(engine->Open());
  return engine;
}

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      quotas_(std::max(options_.max_threads, options_.min_threads) / 2, options_.body_directory,
              options_.body_disk_bytes, ConnectionQuotas::DefaultSocketBytes(),
              options_.response_bytes) {
  options_.min_threads = std::max(options_.min_threads, 1);
  options_.max_threads = std::max(options_.max_threads, options_.min_threads);
  options_.connection.stopping = &stopping_;
  options_.connection.completions = &completions_;
  options_.connection.quotas = &quotas_;
  options_.connection.timers = &timers_;
}

Engine::~Engine() {
  Stop(milliseconds(0));
  if (epoll_ >= 0) ::close(epoll_);
  if (end_event_ >= 0) ::close(end_event_);
  if (wake_event_ >= 0) ::close(wake_event_);
  if (cancel_event_ >= 0) ::close(cancel_event_);
}

Result<void> Engine::Open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  end_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  wake_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  cancel_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  options_.connection.cancel_event = cancel_event_;
  epoll_event end{};
  end.events = EPOLLIN;
  end.data.ptr = nullptr;
  epoll_event wake{};
  wake.events = EPOLLIN | EPOLLET;  // each write wakes one thread; no read is necessary
  wake.data.ptr = this;
  if (epoll_ < 0 || end_event_ < 0 || wake_event_ < 0 || cancel_event_ < 0 ||
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, end_event_, &end) != 0 ||
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_event_, &wake) != 0) {
    return Error::Make(ErrorKind::kResourceExhausted, "The server cannot open its epoll set (" +
                                                          std::system_category().message(errno) +
                                                          "): raise the limit of open files");
  }
  AddThreads(options_.min_threads);
  if (threads() == 0) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "The server cannot start a thread: raise the limit of processes");
  }
  const SignalsBlocked blocked;
  supervisor_ = std::thread([this] { Supervise(); });
  return Ok();
}

void Engine::Add(int fd) {
  if (fd >= ConnectionDescriptorLimit()) fd = LowestDescriptor(fd);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const std::uint64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  SocketGuard socket(fd);
  if (fd >= ConnectionDescriptorLimit())
    return no_descriptor_left.Report("a connection was closed: raise the limit of open files");
  const AcceptDecision decision = Receive(id, fd);
  std::unique_ptr<Stream> stream;
  TlsStream* handshake = nullptr;
  if (decision.kind == AcceptDecision::Kind::kReset) {
    socket.Owned();
    return PlainStream(fd).Reset();
  }
  if (options_.tls != nullptr && decision.kind == AcceptDecision::Kind::kServe) {
    std::unique_ptr<TlsStream> tls = options_.tls->Accept(fd, decision.flaw);
    socket.Owned();  // also when Accept returned null: it has closed the socket
    if (tls == nullptr) return;
    handshake = tls.get();
    stream = std::move(tls);
  } else {
    stream = std::make_unique<PlainStream>(fd);
    socket.Owned();
  }
  EpollRegistration& registration = TakeRegistration();
  const auto return_to_free_list = [this](EpollRegistration* unused) {
    const MutexLock lock(mutex_);
    free_registrations_.push_back(unused);
  };
  // Returned to the free list by Destroy, or on failure before that.
  std::unique_ptr<EpollRegistration, decltype(return_to_free_list)> taken(&registration,
                                                                          return_to_free_list);
  auto owned = std::make_unique<WireConnection>(id, std::move(stream), handshake, registration,
                                                options_.connection);
  WireConnection& connection = *owned;
  connection.Receive(decision);
  connection.StartWait(Now());
  {
    // Open runs under the lock because the connection must not be removed before it returns.
    const MutexLock lock(mutex_);
    // Reserved first, so that a failure destroys nothing under the lock.
    connections_.reserve(connections_.size() + 1);
    connections_.emplace(id, std::move(owned));
    static_cast<void>(taken.release());
    if (registration.Open(epoll_, fd, connection)) {
      open_.store(connections_.size(), std::memory_order_relaxed);
      if (connections_.size() == 1) wake_supervisor_.NotifyOne();  // resume expiry checks
      return;
    }
  }
  Destroy(connection);
}

EpollRegistration& Engine::TakeRegistration() {
  const MutexLock lock(mutex_);
  if (free_registrations_.empty()) {
    // Reserves space for all registrations, so that returning one cannot fail.
    if (free_registrations_.capacity() <= registrations_.size())
      free_registrations_.reserve(2 * registrations_.size() + 16);
    return registrations_.emplace_back();
  }
  EpollRegistration& registration = *free_registrations_.back();
  free_registrations_.pop_back();
  return registration;
}

AcceptDecision Engine::Receive(std::uint64_t id, int fd) const {
  if (!options_.on_accept) return {};
  return options_.on_accept({.id = id,
                             .peer = PeerName(fd),
                             .tls = options_.tls != nullptr,
                             .others = open_.load(std::memory_order_relaxed),
                             .certificate_may_sign = options_.tls && options_.tls->may_sign()});
}

std::size_t Engine::connections() const {
  MutexLock lock(mutex_);
  return connections_.size();
}

void Engine::Work(Worker& self) {
  bool yielding = false;
  int passed_over = 0;  // connections served while a task waited
  ServingTools tools;
  for (;;) {
    if (options_.yield_to_clients) {
      const bool many = open_.load(std::memory_order_relaxed) >=
                        (yielding ? kYieldConnections / 2 : kYieldConnections);
      if (many != yielding) YieldToClients(yielding = many);
    }
    if (WireConnection* const connection = completions_.TakeResponse(); connection != nullptr) {
      Advance(
          *connection, [&] { return connection->Resume(tools); }, tools);
      continue;
    }
    Ready ready;
    if (passed_over < kMaxConnectionsBeforeTask) ready = AwaitReady();
    if (ready.count == 0) {
      // This thread may have consumed a wake-up. Then it must not retire.
      const bool timed_out = passed_over == 0 && completions_.empty();
      passed_over = 0;
      completions_.RunTask();
      if (timed_out && Retire()) break;
      continue;
    }
    if (ready.count < 0 || ready.what == this) continue;
    if (ready.what == nullptr) break;
    taken_.fetch_add(1, std::memory_order_relaxed);
    passed_over = completions_.has_tasks() ? passed_over + 1 : 0;
    if (ready.none_idle || passed_over > 0) AskForThreads();
    WireConnection* const connection = static_cast<EpollRegistration*>(ready.what)->Claim();
    if (connection != nullptr)
      Advance(
          *connection, [&] { return connection->Serve(tools, ready.ended); }, tools);
  }
  const MutexLock lock(mutex_);
  self.finished = true;
  ++finished_;
  wake_supervisor_.NotifyOne();
}

Engine::Ready Engine::AwaitReady() {
  epoll_event event{};
  Ready ready;
  if (!completions_.empty()) {
    ready.count = ::epoll_wait(epoll_, &event, 1, 0);
    ready.none_idle = idle_.load(std::memory_order_relaxed) == 0;
  } else {
    idle_.fetch_add(1);
    // CompletionQueue checks idle_ after it adds an entry, so one of the two sees the other.
    const int timeout_ms =
        completions_.empty() ? static_cast<int>(options_.retire_after.count()) : 0;
    ready.count = ::epoll_wait(epoll_, &event, 1, timeout_ms);
    ready.none_idle = idle_.fetch_sub(1) == 1;
  }
  ready.what = event.data.ptr;
  ready.ended = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  return ready;
}

EpollRegistration::Rearmed Engine::RearmFor(EpollRegistration& registration,
                                            WireConnection::Next next) {
  switch (next) {
    case WireConnection::Next::kRoom: return registration.RearmUntilWritable();
    case WireConnection::Next::kServe: return registration.RearmReady();
    default: return registration.Rearm();
  }
}

template <class Step>
void Engine::Advance(WireConnection& connection, Step step, ServingTools& tools) {
  using Next = WireConnection::Next;
  EpollRegistration& registration = connection.registration();
  const auto next_of = [](const auto& taken) {
    try {
      return taken();
    } catch (...) {  // only this connection ends
      connection_failed.Report(CurrentExceptionError());
      return Next::kClose;
    }
  };
  Next next = next_of(step);
  for (;;) {
    if (next == Next::kLater) return;
    if (next == Next::kClose) return Remove(connection);
    connection.StartWait(Now());
    const EpollRegistration::Rearmed left = RearmFor(registration, next);
    if (left == EpollRegistration::Rearmed::kYes) return;
    if (left == EpollRegistration::Rearmed::kFailed) return Remove(connection);
    // The event that arrived meanwhile may be the peer's end of the connection.
    next = next_of([&] { return connection.Serve(tools, true); });
  }
}

void Engine::Remove(WireConnection& connection) {
  connection.registration().Close();
  Destroy(connection);
}

// Destroys the connection without the lock: its request may hold the last reference to a store.
void Engine::Destroy(WireConnection& connection) {
  EpollRegistration& registration = connection.registration();
  std::unique_ptr<WireConnection> last;
  {
    const MutexLock lock(mutex_);
    const auto found = connections_.find(connection.id());
    last = std::move(found->second);
    connections_.erase(found);
    open_.store(connections_.size(), std::memory_order_relaxed);
  }
  last.reset();
  const MutexLock lock(mutex_);
  free_registrations_.push_back(&registration);  // only after its socket has been closed
  if (stopping_.load(std::memory_order_relaxed) && connections_.empty()) gone_.NotifyAll();
}

bool Engine::Retire() {
  // The other threads may wait for request bodies. Then the last idle thread stays to receive
  // events.
  if (idle_.load() == 0) return false;
  int threads = threads_.load(std::memory_order_relaxed);
  while (threads > options_.min_threads) {
    if (threads_.compare_exchange_weak(threads, threads - 1, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void Engine::WakeThread() {
  // Without an idle thread, the next free thread looks at completions_ first.
  if (idle_.load() == 0) return AskForThreads();
  SetEvent(wake_event_);
}

void Engine::AskForThreads() {
  if (watching_.load(std::memory_order_relaxed) || watching_.exchange(true)) return;
  MutexLock lock(mutex_);
  wake_supervisor_.NotifyOne();
}

void Engine::Supervise() {
  const milliseconds shortest =
      std::min(options_.connection.idle_timeout, options_.connection.progress_timeout);
  const milliseconds sweep = std::clamp(shortest / 4, kMinSweep, kMaxSweep);
  MonotonicTime next_sweep = Now() + sweep;
  for (;;) {
    JoinFinished();
    const MonotonicTime now = Now();
    const MonotonicTime next_look = WatchLoad(now);
    const MutexLock lock(mutex_);
    if (end_supervisor_) return;
    if (now >= next_sweep) {
      ExpireConnections(now);
      next_sweep = now + sweep;
    }
    const bool asked = next_look == MonotonicTime::max() && watching_.load();  // after WatchLoad
    if (finished_ > 0 || asked) continue;
    if (connections_.empty() && next_look == MonotonicTime::max()) {
      wake_supervisor_.WaitIdle(mutex_);
    } else {
      wake_supervisor_.WaitUntil(mutex_, std::min(next_sweep, next_look));
    }
  }
}

// Joins without the lock: an ending thread may still wait for a processor.
void Engine::JoinFinished() {
  std::list<Worker> finished;
  {
    const MutexLock lock(mutex_);
    if (finished_ == 0) return;
    for (auto worker = workers_.begin(); worker != workers_.end();) {
      const auto current = worker++;
      if (current->finished) finished.splice(finished.end(), workers_, current);
    }
    finished_ = 0;
  }
  for (Worker& worker : finished) worker.thread.join();
}

MonotonicTime Engine::WatchLoad(MonotonicTime now) {
  if (!watching_.load()) return MonotonicTime::max();
  const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  const std::uint64_t completions_taken = completions_.taken();
  const std::uint64_t of_completions =
      completions_taken - std::exchange(load_.completions_taken_before, completions_taken);
  const std::uint64_t progress = taken - std::exchange(load_.taken_before, taken) + of_completions;
  const std::chrono::nanoseconds processor_time = ProcessorTime();
  const std::chrono::nanoseconds worked =
      processor_time - std::exchange(load_.processor_time, processor_time);
  const auto elapsed = now - std::exchange(load_.looked, now);
  // Blocked threads cannot reach this share of the processors. Working threads reach it even beside
  // their clients.
  const bool busy = worked >= elapsed * Processors() / 4;
  const bool had_completions = std::exchange(load_.had_completions, !completions_.empty());
  // Completions waited for a whole tick.
  const bool completions_stalled = had_completions && load_.had_completions && of_completions == 0;
  const int threads = threads_.load(std::memory_order_relaxed);
  if (idle_.load(std::memory_order_relaxed) > 0) {
    if (completions_stalled)
      WakeThread();  // the thread that was woken is delayed by a slow request
    if (load_.had_completions) load_.calm_ticks = 0;
    if (++load_.calm_ticks < kCalmTicks) return now + kTick;
    load_.calm_ticks = 0;
    watching_.store(false);
    return MonotonicTime::max();
  }
  load_.calm_ticks = 0;
  // Threads that a handler delays on purpose serve nothing and do not count against the limit.
  const int waiting = quotas_.waiting_threads();
  const int serving = std::max(threads - waiting, 0);
  // Threads that take several connections per tick each are busy, not blocked. More threads would
  // only compete with them.
  const bool stuck = progress < static_cast<std::uint64_t>(std::max(serving, 1));
  if (stuck && serving < options_.max_threads && (completions_stalled || ConnectionsReady())) {
    if (busy && serving > 0 && ++load_.busy_ticks < kBusyTicks) return now + kTick;
    load_.busy_ticks = 0;
    AddThreads(std::min(std::max(serving / 2, waiting > 0 ? options_.min_threads : 1),
                        options_.max_threads - serving));
  }
  return now + kTick;
}

bool Engine::ConnectionsReady() const {
  pollfd set{epoll_, POLLIN, 0};
  return ::poll(&set, 1, 0) > 0;
}

void Engine::AddThreads(int count) {
  const SignalsBlocked blocked;
  std::list<Worker> added;
  for (int i = 0; i < count; ++i) {
    const std::size_t before = added.size();
    try {
      Worker& worker = added.emplace_back();
      // Incremented first: the thread may run, and even end, before this function continues.
      threads_.fetch_add(1, std::memory_order_relaxed);
      worker.thread = std::thread([this, &worker] { Work(worker); });
    } catch (const std::exception& failed) {  // no thread or no memory: keep the existing threads
      thread_not_started.Report(failed.what());
      if (added.size() == before) break;
      threads_.fetch_sub(1, std::memory_order_relaxed);
      added.pop_back();
      break;
    }
  }
  const MutexLock lock(mutex_);
  workers_.splice(workers_.end(), added);
}

void Engine::ExpireConnections(MonotonicTime now) {
  for (const auto& [id, connection] : connections_) connection->ExpireWait(now);
}

void Engine::Stop(milliseconds grace) {
  MutexLock stop_lock(stop_mutex_);
  if (stopped_) return;
  stopped_ = true;
  stopping_.store(true);
  EndConnections(std::clamp(grace, milliseconds(0), kMaxGrace));
  {
    MutexLock lock(mutex_);
    end_supervisor_ = true;
    wake_supervisor_.NotifyOne();
  }
  if (supervisor_.joinable()) supervisor_.join();
  SetEvent(end_event_);
  std::list<Worker> last;
  {
    MutexLock lock(mutex_);
    last.swap(workers_);
  }
  for (Worker& worker : last) worker.thread.join();
  completions_.AwaitCallers();
}

void Engine::EndConnections(milliseconds grace) {
  const MonotonicTime end_of_grace = Now() + grace;
  const MonotonicTime cancel_at = end_of_grace - std::min(kTimeToRespond, grace / 2);
  // Repeated: a connection may begin to wait just after it last checked `stopping`.
  for (;;) {
    bool interrupted = false;
    {
      const MutexLock lock(mutex_);
      if (connections_.empty()) return;
      const bool cancel = Now() >= cancel_at;
      if (cancel) SetEvent(cancel_event_);
      for (const auto& [id, connection] : connections_) {
        connection->EndIdleWait();
        if (cancel) connection->Cancel();
      }
      // No client is left that a delayed response could reach.
      const auto is_abandoned = [](const auto& row) { return row.second->IsPausedForClosedPeer(); };
      interrupted = Now() >= end_of_grace ||
                    std::all_of(connections_.begin(), connections_.end(), is_abandoned);
      if (interrupted) {
        for (const auto& [id, connection] : connections_) connection->Interrupt();
      }
    }
    // Outside the lock: a continued response may call AskForThreads, which takes it.
    if (interrupted) timers_.FireAll();
    MutexLock lock(mutex_);
    if (!connections_.empty()) gone_.WaitUntil(mutex_, Now() + kStopRound);
  }
}

}  // namespace penstock::emulator::http
