// Threads that parts of the store start when they first need one.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_OWN_THREAD_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_OWN_THREAD_H_

#include <thread>
#include <utility>

#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"

namespace penstock::emulator::store {

// The caller then does the work itself.
inline constinit DiagnosticEvent own_thread_not_started("store.thread_not_started");

// Starts `thread` with `work` unless it is already running. False: the thread could not be created.
template <class Work>
bool EnsureThread(std::thread& thread, Work work) {
  if (thread.joinable()) return true;
  const SignalsBlocked blocked;
  try {
    thread = std::thread(std::move(work));
  } catch (...) {  // no thread or no memory
    own_thread_not_started.Report(CurrentExceptionError());
    return false;
  }
  return true;
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_OWN_THREAD_H_
