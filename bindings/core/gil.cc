#include "bindings/core/gil.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace penstock::python {
namespace {

// How long to wait for threads that are about to get the GIL when the interpreter ends.
constexpr std::chrono::seconds kMaxWait{1};
constexpr std::chrono::milliseconds kPoll{1};

std::atomic<bool> ending{false};
std::atomic<int> acquiring{0};  // threads that wait for the GIL and will get it
std::atomic<int> inside{0};     // threads that have released the GIL and not reacquired it
std::atomic<std::thread::id> ending_thread{};

[[noreturn]] void WaitForProcessExit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Acquires the GIL with `acquire`, unless the interpreter is ending.
template <class Acquire>
auto AcquireGil(Acquire acquire) {
  acquiring.fetch_add(1);
  // `ending` is set before `acquiring` is read, so at least one of the two threads sees the other.
  if (ending.load() && ending_thread.load() != std::this_thread::get_id()) {
    acquiring.fetch_sub(1);
    WaitForProcessExit();
  }
  struct Counted {
    ~Counted() { acquiring.fetch_sub(1); }
  } const counted;
  return acquire();
}

void AnnounceEnd() {
  ending_thread.store(std::this_thread::get_id());
  ending.store(true);
  const auto until = std::chrono::steady_clock::now() + kMaxWait;
  while (acquiring.load() > 0 && std::chrono::steady_clock::now() < until) {
    PyThreadState* const state = PyEval_SaveThread();
    std::this_thread::sleep_for(kPoll);
    PyEval_RestoreThread(state);
  }
}

}  // namespace

ReleasedGil::ReleasedGil() : state_((inside.fetch_add(1), PyEval_SaveThread())) {}

ReleasedGil::~ReleasedGil() {
  AcquireGil([this] {
    PyEval_RestoreThread(state_);
    return true;
  });
  inside.fetch_sub(1);
}

HeldGil::HeldGil() : state_(AcquireGil([] { return PyGILState_Ensure(); })) {}

HeldGil::~HeldGil() { PyGILState_Release(state_); }

bool OthersInsideAtTheEnd() { return ending.load() && inside.load() > 0; }

void WatchInterpreterEnd() {
  // A forked child has only the thread that called fork().
  ::pthread_atfork(nullptr, nullptr, [] {
    acquiring.store(0);
    inside.store(0);
  });
  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(&AnnounceEnd));
}

}  // namespace penstock::python
