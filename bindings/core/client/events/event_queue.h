// Events of clients that Python code handles: attempts for observers, failures for retry policies,
// and lines of the log for Python's logging.
//
// I/O threads append events without the GIL. One Python thread of the process takes them
// (penstock/_events.py). Each event names its client by a number that Python chose.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_EVENTS_EVENT_QUEUE_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_EVENTS_EVENT_QUEUE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/log.h"
#include "penstock/base/mutex.h"
#include "penstock/client.h"

namespace penstock::python {

// A RetryQuestion that outlives the call of the policy.
struct KeptQuestion {
  std::string operation;
  std::string bucket;
  std::string key;
  int attempt;
  Error error;
  bool retried_by_default;
  std::function<void(RetryVerdict)> decide;
};

// The last event of a client: Python forgets its callbacks.
struct LastEvent {};

// A line of the log (penstock/base/log.h). Its event has the client number 0.
struct LogLine {
  LogLevel level;
  WallTime logged;
  std::string json;
};

struct ClientEvent {
  std::uint64_t client;
  std::variant<RequestEvent, KeptQuestion, LastEvent, LogLine> what;
};

// Thread safety: all members may be called from any thread, and none needs the GIL.
class EventQueue {
 public:
  // Events that wait; further attempts and lines are dropped. About 300 bytes each.
  static constexpr std::size_t kCapacity = 16'384;

  // Returns the queue of this process. A forked child has its own, which is empty: a lock of the
  // parent's may be held by a thread that the child does not have.
  static EventQueue& PerProcess();

  // Appends an attempt. Returns false if the queue is full or closed.
  bool Append(std::uint64_t client, const RequestEvent& event);
  // Appends a question. If no thread takes events, or the queue is full or closed, the decision
  // is kDefault at once.
  void Ask(std::uint64_t client, const RetryQuestion& question,
           std::function<void(RetryVerdict)> decide);
  // Appends a line of the log. A line that is dropped, because the queue is full or closed, is
  // counted.
  void Append(LogLine line);
  // Returns the number of lines dropped since the last call.
  std::uint64_t TakeDroppedLines() { return dropped_lines_.exchange(0); }
  // Appends the last event of a client.
  void End(std::uint64_t client);

  // Waits for events, and returns all. Empty: the queue is closed.
  std::vector<ClientEvent> Take();
  // The events of the last Take have been handled.
  void Handled(std::size_t count);
  // Waits until the events that were appended before this call have been handled. Returns false
  // after `limit`.
  bool Flush(std::chrono::nanoseconds limit);
  // Ends Take after the events that it has not returned yet. Later events are dropped.
  void Close();

 private:
  bool TryAppend(ClientEvent& event);  // Moves from `event` if it returns true.

  Mutex mutex_;
  CondVar changed_;
  std::deque<ClientEvent> events_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t appended_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t handled_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool has_reader_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool closed_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::atomic<std::uint64_t> dropped_lines_{0};
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_EVENTS_EVENT_QUEUE_H_
