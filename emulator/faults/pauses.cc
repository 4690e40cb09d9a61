#include "emulator/faults/pauses.h"

namespace penstock::emulator::faults {

bool Pauses::Enter() {
  const MutexLock lock(mutex_);
  if (ended_ || waiting_ >= kMost) return false;
  ++waiting_;
  return true;
}

void Pauses::Turn::Wait(std::chrono::nanoseconds time) {
  if (!granted_) return;
  if (wire_ != nullptr) wire_->BeginWait();
  pauses_.WaitFor(time);
  if (wire_ != nullptr) wire_->EndWait();
}

void Pauses::Leave() {
  const MutexLock lock(mutex_);
  --waiting_;
}

void Pauses::WaitFor(std::chrono::nanoseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  const MutexLock lock(mutex_);
  while (!ended_ && std::chrono::steady_clock::now() < until) end_.WaitUntil(mutex_, until);
}

void Pauses::End() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
  }
  end_.NotifyAll();
}

bool Pauses::ended() {
  const MutexLock lock(mutex_);
  return ended_;
}

}  // namespace penstock::emulator::faults
