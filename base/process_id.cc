#include "base/process_id.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace penstock {
namespace {

std::atomic<int> process_id{0};  // 0: not cached yet

void AfterForkInChild() { process_id.store(0, std::memory_order_relaxed); }

// Registered at load time: a fork could interrupt a lazy registration.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, AfterForkInChild);

}  // namespace

int ProcessId() {
  int id = process_id.load(std::memory_order_relaxed);
  if (id == 0) process_id.store(id = ::getpid(), std::memory_order_relaxed);
  return id;
}

}  // namespace penstock
