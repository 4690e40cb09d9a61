// Completions of calls that a Python event loop awaits.
//
// Each event loop has one queue. The loop's thread starts a call; its completion arrives on an I/O
// thread, which appends it to the queue and wakes the loop through a file descriptor, without the
// GIL. The loop's thread takes all completions of a wake-up together, converts them to Python and
// completes their futures.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_AIO_COMPLETION_QUEUE_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_AIO_COMPLETION_QUEUE_H_

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <unordered_map>
#include <utility>

#include "base/process_id.h"
#include "penstock/client.h"

namespace penstock::python {

class CompletionQueue;

// One call in flight. It owns everything that the call refers to: the client, request bodies and
// the memory that receives data. It is created and destroyed with the GIL, and it is destroyed only
// after the engine has completed the call.
class AsyncCall {
 public:
  explicit AsyncCall(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  virtual ~AsyncCall() = default;
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

 protected:
  // Starts the call. `done` runs exactly once, on any thread, unless Start throws. It lets another
  // thread destroy this object. `ask_memory` makes the loop's thread call GiveMemory; it may run
  // before `done`. Called without the GIL.
  virtual void Start(std::function<void()> ask_memory, std::function<void()> done) = 0;
  // Needs the GIL.
  virtual void GiveMemory() {}
  // Returns the result, or throws the error. Called once, after `done`. Needs the GIL.
  virtual pybind11::object Take() = 0;

  const std::shared_ptr<Client>& client() const { return client_; }
  std::stop_token cancel_token() const { return stop_.get_token(); }

 private:
  friend class CompletionQueue;
  enum class What { kMemoryRequest, kCompletion };
  // An element of the queue. It belongs to the call, so that appending needs no memory.
  struct Event {
    AsyncCall* call;
    What what;
    Event* next = nullptr;
  };

  const std::shared_ptr<Client> client_;
  std::stop_source stop_;
  std::uint64_t number_ = 0;
  pybind11::object future_;
  bool cancelled_by_future_ = false;
  Event memory_request_{this, What::kMemoryRequest};
  Event completion_{this, What::kCompletion};
};

// Thread safety: all members need the GIL and run on the loop's thread, except Append, which runs
// on any thread. In a forked child they do nothing, or raise RuntimeError, and no call is
// destroyed.
class CompletionQueue : public std::enable_shared_from_this<CompletionQueue> {
 public:
  // `make_future`: returns the future of a call from its number.
  // Throws if there is no file descriptor.
  static std::shared_ptr<CompletionQueue> Create(pybind11::object make_future);
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  // Readable while the queue has events.
  int descriptor() const { return descriptor_; }
  std::size_t in_flight() const { return calls_.size(); }

  // Starts the call and returns its future.
  pybind11::object Submit(std::unique_ptr<AsyncCall> call);
  // Completes the futures of the calls that have ended.
  void Drain();
  // The future of this call was cancelled: cancels the call. The future ends when the engine has
  // completed it. No effect on a call that has ended.
  void Cancel(std::uint64_t number);
  // Cancels the calls of `client`, which then end with an error. Returns their futures.
  pybind11::list CancelAllOf(const Client& client);
  // Cancels all calls, waits until the engine has completed them, and destroys them. Their futures
  // stay pending, because the loop has ended. Later calls are refused.
  void Close();

 private:
  CompletionQueue(pybind11::object make_future, int descriptor);
  bool mine() const { return process_ == ProcessId(); }
  void Append(AsyncCall::Event& event);
  // Returns the events in the order of Append.
  AsyncCall::Event* TakeEvents();
  void Process(AsyncCall::Event* event);
  void Complete(AsyncCall& call);

  const int process_ = ProcessId();
  const int descriptor_;
  std::atomic<AsyncCall::Event*> last_{nullptr};
  // While the loop's thread takes events, Append need not wake it.
  std::atomic<bool> draining_{false};
  // Guarded by the GIL.
  pybind11::object make_future_;
  std::unordered_map<std::uint64_t, std::unique_ptr<AsyncCall>> calls_;
  std::uint64_t last_number_ = 0;
  bool closed_ = false;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_AIO_COMPLETION_QUEUE_H_
