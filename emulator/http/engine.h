// Which thread serves which connection when: one epoll set, a growing and shrinking set of threads.
//
// Waiting connections cost no thread, whatever they wait for. The thread that is told of a ready
// connection serves it itself (registration.h). What has been promised for later (completions.h) is
// done between connections: answers first, tasks when none is ready.
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

#include "emulator/http/accept_decision.h"
#include "emulator/http/completions.h"
#include "emulator/http/connection/connection.h"
#include "emulator/http/connection/tls.h"
#include "emulator/http/epoll_registration.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

struct EngineOptions {
  // `stopping`, `completions` and `allowances` are set by the engine
  ConnectionSettings connection;
  std::unique_ptr<TlsContext> tls;  // null: plain HTTP
  int min_threads = 4;
  // half of them may wait for bodies (quotas.h); without those that wait on purpose
  int max_threads = 256;
  // of bodies that no thread waits for; empty: the system's temporary one
  std::string body_directory;
  std::uint64_t body_disk_bytes = 8ull << 30;                        // for all of these together
  std::uint64_t answer_bytes = ConnectionQuotas::kUsualAnswerBytes;  // ServerOptions::answer_bytes
  std::function<AcceptDecision(const Arrival&)> on_accept;           // may be empty: all are served
  bool yield_to_clients = false;                  // ServerOptions::yield_to_clients
  std::chrono::milliseconds retire_after{2'000};  // an idle thread beyond the minimum ends
};

// Thread safety: every method from any thread. Not to be used or destroyed in a forked child
// (server.cc sees to it).
class Engine {
 public:
  // kResourceExhausted when descriptors or threads cannot be had.
  static Result<std::unique_ptr<Engine>> Start(EngineOptions options);
  ~Engine();  // Stop(0)

  // Takes over an accepted socket. A socket that cannot be watched is closed.
  void Add(int fd);

  // Ends waiting connections at once and requests in progress after `grace`; returns when all
  // threads have ended. Nothing may be added any more. Idempotent. A handler that never returns
  // keeps it waiting.
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

  // What on_accept says of a connection that is about to get this id.
  AcceptDecision Receive(std::uint64_t id, int fd) const;

  void Work(Worker& self);
  // The next ready connection (count 1), or none within the time that an idle thread stays, or none
  // at once where there is a completions.
  struct Ready {
    int count = 0;
    void* what = nullptr;  // null: the end; `this`: a call; else a EpollRegistration
    bool ended = false;    // the peer has ended, or may have
    bool none_idle = false;
  };
  Ready AwaitReady();
  // One step of a connection that the calling thread owns, and what follows from it.
  template <class Step>
  void Advance(WireConnection& connection, Step step, ServingTools& tools);
  static EpollRegistration::Rearmed Leave(EpollRegistration& registration,
                                          WireConnection::Next next);
  void Remove(WireConnection& connection);
  void Destroy(WireConnection& connection);
  EpollRegistration& TakeRegistration();
  bool Retire();
  // Sees to it that a completions is looked at by another thread.
  void Call();
  void AskForThreads();

  void Supervise();
  void JoinFinished();
  MonotonicTime WatchLoad(MonotonicTime now);
  void ExpireConnections(MonotonicTime now) PENSTOCK_REQUIRES(mutex_);
  void AddThreads(int count);
  bool ConnectionsReady() const;
  void EndConnections(MonotonicTime end_of_grace);

  EngineOptions options_;
  std::atomic<bool> stopping_{false};
  int epoll_ = -1;
  int end_event_ = -1;   // readable once all threads shall end
  int call_event_ = -1;  // written to wake one idle thread
  CompletionQueue completions_{[this] { Call(); }};
  ConnectionQuotas quotas_;
  Timers timers_;

  std::atomic<std::size_t> open_{0};  // connections
  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<int> threads_{0};
  std::atomic<int> idle_{0};  // threads waiting for a ready connection
  // ready connections taken so far, without the completions's
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> watching_{false};  // the supervisor looks at the load

  mutable Mutex mutex_;
  CondVar wake_supervisor_;
  CondVar gone_;  // a connection was removed, or the supervisor ended
  // of all connections there ever were at a time
  std::deque<EpollRegistration> registrations_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<EpollRegistration*> free_registrations_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::unique_ptr<WireConnection>> connections_
      PENSTOCK_GUARDED_BY(mutex_);
  std::list<Worker> workers_ PENSTOCK_GUARDED_BY(mutex_);
  int finished_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // workers that ended and have not been joined
  bool end_supervisor_ PENSTOCK_GUARDED_BY(mutex_) = false;

  // What WatchLoad saw before. Of the supervisor's thread alone.
  struct Load {
    std::uint64_t taken_before = 0;
    std::uint64_t completions_taken_before = 0;
    bool had_completions = false;  // at the tick before
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
