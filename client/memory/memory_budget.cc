// Who may hold how much, and who waits.
#include <algorithm>
#include <string>
#include <utility>

#include "base/process_id.h"
#include "client/memory/of_process.h"
#include "penstock/memory.h"

namespace penstock {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

}  // namespace

MemoryBudget::Share& MemoryBudget::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  Release();
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  in_flight_ = std::exchange(other.in_flight_, false);
  return *this;
}

void MemoryBudget::Share::SetInFlight(bool in_flight) {
  if (budget_ == nullptr || in_flight_ == in_flight) return;
  in_flight_ = in_flight;
  budget_->ChangeInFlight(bytes_, in_flight);
}

void MemoryBudget::Share::Release() {
  if (budget_ != nullptr) budget_->GiveBack(bytes_, in_flight_);
  budget_ = nullptr;
  bytes_ = 0;
  in_flight_ = false;
}

MemoryBudget::MemoryBudget(std::uint64_t limit_bytes, std::chrono::milliseconds patience)
    : process_(ProcessId()), patience_(patience), limit_(limit_bytes) {}

MemoryBudget& MemoryBudget::OfProcess() {
  static memory::OfProcess<MemoryBudget> budgets;
  return budgets.Mine([](const MemoryBudget* of_parent) {
    return new MemoryBudget(of_parent != nullptr ? of_parent->limit() : DefaultMemoryLimit());
  });
}

std::optional<MemoryBudget::Share> MemoryBudget::TryTake(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (!waiting_.empty() || !Fits(bytes)) return std::nullopt;
  return Grant(bytes);
}

Result<MemoryBudget::Share> MemoryBudget::Take(std::uint64_t bytes, const std::function<bool()>& interrupt) {
  mutex_.Lock();
  if (waiting_.empty()) last_change_ = std::chrono::steady_clock::now();  // nobody's patience was tried before
  const auto place = waiting_.insert(waiting_.end(), Waiter{});
  for (;;) {
    const bool first = place == waiting_.begin();
    const bool stuck = first && IsStuck();
    if (first && (Fits(bytes) || stuck)) {
      if (!Fits(bytes)) ++usage_.beyond_limit;
      waiting_.erase(place);
      Share share = Grant(bytes);
      mutex_.Unlock();
      changed_.NotifyAll();  // another may be first now
      return share;
    }
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::min(kPoll, patience_));
    if (!interrupt) continue;
    mutex_.Unlock();
    const bool give_up = interrupt();
    mutex_.Lock();
    if (!give_up) continue;
    waiting_.erase(place);
    mutex_.Unlock();
    changed_.NotifyAll();
    return Error::Make(ErrorKind::kCancelled, "the wait for " + std::to_string(bytes) + " bytes of memory was interrupted");
  }
}

void MemoryBudget::SetLimit(std::uint64_t limit_bytes) {
  limit_.store(limit_bytes, std::memory_order_relaxed);
  changed_.NotifyAll();
}

MemoryBudget::Usage MemoryBudget::usage() const {
  const MutexLock lock(mutex_);
  Usage usage = usage_;
  usage.limit = limit();
  usage.waiting = waiting_.size();
  return usage;
}

bool MemoryBudget::Fits(std::uint64_t bytes) const {
  const std::uint64_t most = limit();
  return usage_.held == 0 || (bytes <= most && usage_.held <= most - bytes);
}

bool MemoryBudget::IsStuck() const {
  return usage_.in_flight == 0 && std::chrono::steady_clock::now() - last_change_ >= patience_;
}

MemoryBudget::Share MemoryBudget::Grant(std::uint64_t bytes) {
  usage_.held += bytes;
  usage_.most_held = std::max(usage_.most_held, usage_.held);
  last_change_ = std::chrono::steady_clock::now();
  return Share(*this, bytes);
}

void MemoryBudget::GiveBack(std::uint64_t bytes, bool in_flight) {
  if (!mine()) return;
  {
    const MutexLock lock(mutex_);
    usage_.held -= bytes;
    if (in_flight) usage_.in_flight -= bytes;
    last_change_ = std::chrono::steady_clock::now();
    if (waiting_.empty()) return;
  }
  changed_.NotifyAll();
}

void MemoryBudget::ChangeInFlight(std::uint64_t bytes, bool in_flight) {
  if (!mine()) return;
  const MutexLock lock(mutex_);
  if (in_flight) {
    usage_.in_flight += bytes;
  } else {
    usage_.in_flight -= bytes;
  }
  last_change_ = std::chrono::steady_clock::now();
}

bool MemoryBudget::mine() const { return process_ == ProcessId(); }

}  // namespace penstock
