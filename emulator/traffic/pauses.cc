#include "emulator/traffic/pauses.h"

#include <algorithm>

namespace penstock::emulator::traffic {

bool Pauses::Enter() {
  const MutexLock lock(mutex_);
  if (ended_ || waiting_ >= kMax) return false;
  ++waiting_;
  return true;
}

bool Pauses::Permit::Wait(std::chrono::nanoseconds time) {
  if (!granted_) return true;
  if (wire_ != nullptr) wire_->BeginWait();
  const bool connected = WaitUntil(std::chrono::steady_clock::now() + time);
  if (wire_ != nullptr) wire_->EndWait();
  return connected;
}

bool Pauses::Permit::WaitUntil(MonotonicTime until) {
  for (;;) {
    const MonotonicTime now = std::chrono::steady_clock::now();
    if (now >= until) return true;
    if (now >= next_check_) {
      next_check_ = now + message::kPeerCheckInterval;
      if (wire_ != nullptr && wire_->PeerHasClosed()) return false;
    }
    if (pauses_.WaitUntil(std::min(until, next_check_))) return true;
  }
}

void Pauses::Leave() {
  const MutexLock lock(mutex_);
  --waiting_;
}

bool Pauses::WaitUntil(MonotonicTime until) {
  const MutexLock lock(mutex_);
  while (!ended_ && std::chrono::steady_clock::now() < until) end_.WaitUntil(mutex_, until);
  return ended_;
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

}  // namespace penstock::emulator::traffic
