#include "bindings/core/client/aio/completion_queue.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "bindings/core/gil.h"

namespace penstock::python {

namespace py = pybind11;

namespace {

// How long Close waits. The engine ends cancelled calls within milliseconds.
constexpr std::chrono::seconds kMaxCloseWait{10};
constexpr int kPollMilliseconds = 100;

// Calls a method of a future, with the name as an interned str.
void CallMethod(const py::object& future, PyObject* name, const py::object& argument) {
  const auto none = py::reinterpret_steal<py::object>(
      PyObject_CallMethodOneArg(future.ptr(), name, argument.ptr()));
  if (!none) throw py::error_already_set();
}

void SetResult(const py::object& future, const py::object& result) {
  static PyObject* const name = PyUnicode_InternFromString("set_result");
  CallMethod(future, name, result);
}

void SetException(const py::object& future, const py::object& exception) {
  static PyObject* const name = PyUnicode_InternFromString("set_exception");
  CallMethod(future, name, exception);
}

void RequestStops(std::vector<std::stop_source>& stops) {
  const ReleasedGil unlocked;
  for (std::stop_source& stop : stops) stop.request_stop();
}

}  // namespace

std::shared_ptr<CompletionQueue> CompletionQueue::Create(py::object make_future) {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    throw std::runtime_error("no file descriptor for the completions of an event loop: " +
                             std::generic_category().message(errno) +
                             "; close files or raise the limit (ulimit -n)");
  }
  return std::shared_ptr<CompletionQueue>(new CompletionQueue(std::move(make_future), descriptor));
}

CompletionQueue::CompletionQueue(py::object make_future, int descriptor)
    : descriptor_(descriptor), make_future_(std::move(make_future)) {}

CompletionQueue::~CompletionQueue() { ::close(descriptor_); }

py::object CompletionQueue::Submit(std::unique_ptr<AsyncCall> owned) {
  if (!mine()) {
    throw std::runtime_error("this event loop was made in process " + std::to_string(process_) +
                             " and cannot be used after fork(); run a new one in this process");
  }
  if (closed_) throw std::runtime_error("the event loop is closed, or the interpreter is ending");
  AsyncCall& call = *owned;
  const std::uint64_t number = ++last_number_;
  py::object future = make_future_(number);
  call.number_ = number;
  call.future_ = future;
  calls_.emplace(number, std::move(owned));
  try {
    const auto self = shared_from_this();
    // Another thread may wait for the GIL with a lock that the engine takes.
    const ReleasedGil unlocked;
    call.Start([self, &call] { self->Append(call.memory_request_); },
               [self, &call] { self->Append(call.completion_); });
  } catch (...) {
    calls_.erase(number);
    throw;
  }
  return future;
}

void CompletionQueue::Append(AsyncCall::Event& event) {
  AsyncCall::Event* last = last_.load();
  do {
    event.next = last;
  } while (!last_.compare_exchange_weak(last, &event));
  // From here on the loop's thread may destroy the event. Drain clears `draining_` before its last
  // look at `last_`, so it or this thread sees the other's change.
  if (last == nullptr && !draining_.load()) ::eventfd_write(descriptor_, 1);
}

AsyncCall::Event* CompletionQueue::TakeEvents() {
  AsyncCall::Event* newest = last_.exchange(nullptr);
  AsyncCall::Event* oldest = nullptr;
  while (newest != nullptr) {
    AsyncCall::Event* const next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

void CompletionQueue::Drain() {
  if (!mine()) return;
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
  do {
    draining_.store(true);
    // Memory that is given to a call may complete it, which appends an event.
    while (AsyncCall::Event* const events = TakeEvents()) Process(events);
    draining_.store(false);
  } while (last_.load() != nullptr);
}

void CompletionQueue::Process(AsyncCall::Event* event) {
  while (event != nullptr) {
    AsyncCall& call = *event->call;
    const AsyncCall::What what = event->what;
    event = event->next;
    if (what == AsyncCall::What::kMemoryRequest) {
      call.GiveMemory();
    } else {
      Complete(call);
    }
  }
}

void CompletionQueue::Complete(AsyncCall& call) {
  const auto owner = calls_.extract(call.number_);  // destroys the call on return
  if (closed_) return;
  // One failure, for example of a loop that is closed, must not keep the others from completing.
  try {
    if (call.cancelled_by_future_) {
      call.future_.attr("end_cancelled")();
      return;
    }
    py::object exception;
    try {
      SetResult(call.future_, call.Take());
      return;
    } catch (py::error_already_set& error) {
      exception = error.value();
    } catch (const std::exception& error) {
      exception = py::module_::import("builtins").attr("RuntimeError")(error.what());
    }
    SetException(call.future_, exception);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("penstock.aio");
  }
}

void CompletionQueue::Cancel(std::uint64_t number) {
  const auto found = calls_.find(number);
  if (found == calls_.end() || !mine()) return;
  found->second->cancelled_by_future_ = true;
  std::vector<std::stop_source> stops{found->second->stop_};
  RequestStops(stops);
}

py::list CompletionQueue::CancelAllOf(const Client& client) {
  py::list futures;
  std::vector<std::stop_source> stops;
  if (!mine()) return futures;
  for (const auto& [number, call] : calls_) {
    if (call->client_.get() != &client) continue;
    futures.append(call->future_);
    stops.push_back(call->stop_);
  }
  RequestStops(stops);
  return futures;
}

void CompletionQueue::Close() {
  if (!mine() || closed_) return;
  closed_ = true;
  make_future_ = py::object();
  std::vector<std::stop_source> stops;
  for (const auto& [number, call] : calls_) stops.push_back(call->stop_);
  RequestStops(stops);
  const auto until = std::chrono::steady_clock::now() + kMaxCloseWait;
  while (!calls_.empty()) {
    if (std::chrono::steady_clock::now() > until) {
      // The engine may still use the memory of these calls: keep all of it.
      new std::shared_ptr<CompletionQueue>(shared_from_this());
      return;
    }
    {
      const ReleasedGil unlocked;
      pollfd wait{descriptor_, POLLIN, 0};
      ::poll(&wait, 1, kPollMilliseconds);
    }
    Drain();
  }
}

}  // namespace penstock::python
