#include "bindings/core/gil.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace penstock::python {
namespace {

// with threads that are about to have the GIL when the end is announced
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kPoll{1};

std::atomic<bool> ending{false};
std::atomic<int> asking{0};  // threads that wait for the GIL and will have it
std::atomic<int> inside{0};  // threads that have released it and not got it back
std::atomic<std::thread::id> ending_thread{};

[[noreturn]] void WaitForTheEnd() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Asks for the GIL by `ask`, unless the interpreter is ending.
template <class Ask>
auto AskForGil(Ask ask) {
  asking.fetch_add(1);
  // The end is announced before those who ask are counted: one of the two sees the other.
  if (ending.load() && ending_thread.load() != std::this_thread::get_id()) {
    asking.fetch_sub(1);
    WaitForTheEnd();
  }
  struct Asked {
    ~Asked() { asking.fetch_sub(1); }
  } const asked;
  return ask();
}

void AnnounceEnd() {
  ending_thread.store(std::this_thread::get_id());
  ending.store(true);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (asking.load() > 0 && std::chrono::steady_clock::now() < until) {
    PyThreadState* const state = PyEval_SaveThread();
    std::this_thread::sleep_for(kPoll);
    PyEval_RestoreThread(state);
  }
}

}  // namespace

ReleasedGil::ReleasedGil() : state_((inside.fetch_add(1), PyEval_SaveThread())) {}

ReleasedGil::~ReleasedGil() {
  AskForGil([this] {
    PyEval_RestoreThread(state_);
    return true;
  });
  inside.fetch_sub(1);
}

HeldGil::HeldGil() : state_(AskForGil([] { return PyGILState_Ensure(); })) {}

HeldGil::~HeldGil() { PyGILState_Release(state_); }

bool OthersInsideAtTheEnd() { return ending.load() && inside.load() > 0; }

void WatchInterpreterEnd() {
  // A forked child has the thread that forked and no other.
  ::pthread_atfork(nullptr, nullptr, [] {
    asking.store(0);
    inside.store(0);
  });
  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(&AnnounceEnd));
}

}  // namespace penstock::python
