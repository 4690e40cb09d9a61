// The connection engine: one epoll set and a pool of serving threads that grows and shrinks.
//
// Waiting connections do not occupy a thread. The thread that receives a connection's event serves
// it (epoll_registration.h). Between connections, threads process completed responses first, then
// queued tasks when no connection is ready (completion_queue.h).
#ifndef PENSTOCK_EMULATOR_HTTP_ENGINE_H_
#define PENSTOCK_EMULATOR_HTTP_ENGINE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "emulator/http/connection/completion_queue.h"
#include "emulator/http/connection/connection.h"
#include "emulator/http/connection/epoll_registration.h"
#include "emulator/http/socket/accept_decision.h"
#include "emulator/http/socket/tls.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

struct EngineOptions {
  // The engine sets `stopping`, `completions`, `quotas`, `timers` and `cancel_event`.
  ConnectionSettings connection;
  std::unique_ptr<TlsContext> tls;  // null: plain HTTP
  int min_threads = 4;
  // Half of them may wait for request bodies (connection_quotas.h). Threads that a handler delays
  // on purpose are not counted.
  int max_threads = 256;
  // For bodies that are stored without a waiting thread. Empty: the system's temporary directory.
  std::string body_directory;
  std::uint64_t body_disk_bytes = 8ull << 30;  // limit for all such bodies
  std::uint64_t response_bytes =
      ConnectionQuotas::kDefaultResponseBytes;              // ServerOptions::response_bytes
  std::function<AcceptDecision(const Arrival&)> on_accept;  // empty: every connection is served
  bool yield_to_clients = false;                            // ServerOptions::yield_to_clients
  std::chrono::milliseconds retire_after{2'000};  // idle time after which a surplus thread ends
};

// Thread safety: every method may be called from any thread. A forked child must neither use nor
// destroy it (server.cc ensures this).
class Engine {
 public:
  // Returns kResourceExhausted when file descriptors or threads are not available.
  static Result<std::unique_ptr<Engine>> Start(EngineOptions options);
  ~Engine();  // Stop(0)

  // Takes ownership of an accepted socket. Closes it if it cannot be added to the epoll set.
  void Add(int fd);

  // Closes waiting connections at once. Cancels requests in progress shortly before the end of
  // `grace`, also those that wait for their body, and closes their connections after it. Returns
  // when all threads have ended. Add must not be called any more. Idempotent. Blocks for as long as
  // a handler does not return.
  void Stop(std::chrono::milliseconds grace);

  std::size_t connections() const;
  int threads() const { return threads_.load(std::memory_order_relaxed); }

 private:
  struct Worker {
    std::thread thread;
    bool finished = false;
  };

  explicit Engine(EngineOptions options);
  Result<void> Open();

  // Calls on_accept for a connection that will get this id.
  AcceptDecision Receive(std::uint64_t id, int fd) const;

  void Work(Worker& self);
  // Returns the next ready connection (count 1). Returns count 0 after retire_after, or at once
  // when completions_ is not empty.
  struct Ready {
    int count = 0;
    void* what = nullptr;  // null: shutdown; `this`: a wake-up; else an EpollRegistration
    bool ended = false;    // the peer has closed the connection, or may have
    bool none_idle = false;
  };
  Ready AwaitReady();
  // Runs one step of a connection that the calling thread owns, then rearms, serves or removes it.
  template <class Step>
  void Advance(WireConnection& connection, Step step, ServingTools& tools);
  static EpollRegistration::Rearmed RearmFor(EpollRegistration& registration,
                                             WireConnection::Next next);
  void Remove(WireConnection& connection);
  void Destroy(WireConnection& connection);
  EpollRegistration& TakeRegistration();
  bool Retire();
  // Makes another thread look at completions_.
  void WakeThread();
  void AskForThreads();

  void Supervise();
  void JoinFinished();
  MonotonicTime WatchLoad(MonotonicTime now);
  void ExpireConnections(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void AddThreads(int count);
  bool ConnectionsReady() const;
  void EndConnections(std::chrono::milliseconds grace);

  EngineOptions options_;
  std::atomic<bool> stopping_{false};
  int epoll_ = -1;
  int end_event_ = -1;     // readable once all threads must end
  int wake_event_ = -1;    // written to wake one idle thread
  int cancel_event_ = -1;  // readable once requests in progress are cancelled
  CompletionQueue completions_{[this] { WakeThread(); }};
  ConnectionQuotas quotas_;
  Timers timers_;

  std::atomic<std::size_t> open_{0};  // connections
  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<int> threads_{0};
  std::atomic<int> idle_{0};  // threads waiting for a ready connection
  // Ready connections taken so far, without those of completions_.
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> watching_{false};  // the supervisor samples the load

  mutable Mutex mutex_;
  CondVar wake_supervisor_;
  CondVar gone_;  // a connection was removed, or the supervisor ended
  // As many as the highest number of simultaneous connections so far.
  std::deque<EpollRegistration> registrations_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<EpollRegistration*> free_registrations_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::unique_ptr<WireConnection>> connections_
      PENSTOCK_GUARDED_BY(mutex_);
  std::list<Worker> workers_ PENSTOCK_GUARDED_BY(mutex_);
  int finished_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // workers that ended and have not been joined
  bool end_supervisor_ PENSTOCK_GUARDED_BY(mutex_) = false;

  // The previous sample of WatchLoad. Used by the supervisor thread only.
  struct Load {
    std::uint64_t taken_before = 0;
    std::uint64_t completions_taken_before = 0;
    bool had_completions = false;  // at the previous tick
    int calm_ticks = 0;
    int busy_ticks = 0;
    MonotonicTime looked{};
    std::chrono::nanoseconds processor_time{};
  };
  Load load_;

  Mutex stop_mutex_;  // one Stop at a time
  bool stopped_ PENSTOCK_GUARDED_BY(stop_mutex_) = false;
  std::thread supervisor_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_ENGINE_H_
