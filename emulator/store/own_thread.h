// Threads of their own that the store's parts start when there is first something to do.
#ifndef PENSTOCK_EMULATOR_STORE_OWN_THREAD_H_
#define PENSTOCK_EMULATOR_STORE_OWN_THREAD_H_

#include <thread>
#include <utility>

#include "base/diagnostics.h"
#include "base/signals_blocked.h"

namespace penstock::emulator::store {

// the caller does the work itself
inline constinit DiagnosticEvent own_thread_not_started("store.thread_not_started");

// `thread` runs `work` unless it was started before. False: no thread is to be had.
template <class Work>
bool HasOwnThread(std::thread& thread, Work work) {
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

#endif  // PENSTOCK_EMULATOR_STORE_OWN_THREAD_H_
