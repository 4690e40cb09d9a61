#include "client/transfer/thread_use.h"

#include <time.h>

namespace penstock::transfer {
namespace {

// The CPU time of the calling thread since its start.
std::chrono::nanoseconds ThreadCpuTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

ThreadMeter ThreadMeter::Start() {
  ThreadMeter meter;
  meter.thread_ = std::this_thread::get_id();
  meter.cpu_ = ThreadCpuTime();
  meter.began_ = SystemClock().Monotonic();
  return meter;
}

ThreadUse ThreadMeter::Used() const {
  if (thread_ != std::this_thread::get_id()) return {};
  return {.cpu = ThreadCpuTime() - cpu_, .elapsed = SystemClock().Monotonic() - began_};
}

}  // namespace penstock::transfer
