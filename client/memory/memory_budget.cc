// The memory budget: shares, the FIFO queue of waiters, and eviction.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/async/poll_interrupt.h"
#include "base/process_id.h"
#include "client/memory/default_limit.h"
#include "client/memory/per_process.h"
#include "penstock/base/blocking.h"
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
  taker_ = other.taker_;
  in_flight_ = std::exchange(other.in_flight_, false);
  return *this;
}

void MemoryBudget::Share::SetInFlight(bool in_flight) {
  if (budget_ == nullptr || in_flight_ == in_flight) return;
  in_flight_ = in_flight;
  budget_->ChangeInFlight(*this);
}

void MemoryBudget::Share::Release() {
  if (budget_ != nullptr) budget_->Release(*this);
  budget_ = nullptr;
  bytes_ = 0;
  in_flight_ = false;
}

MemoryBudget::MemoryBudget(std::uint64_t limit_bytes, std::chrono::milliseconds stall_limit)
    : process_(ProcessId()), stall_limit_(stall_limit), limit_(limit_bytes) {}

MemoryBudget& MemoryBudget::PerProcess() {
  static constinit memory::PerProcess<MemoryBudget> budgets;
  return budgets.Mine([](const MemoryBudget* of_parent) {
    return new MemoryBudget(of_parent != nullptr ? of_parent->limit() : memory::InitialLimit());
  });
}

Result<void> SetMemoryLimit(std::uint64_t limit_bytes) {
  if (limit_bytes < kMinMemoryLimitBytes) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the memory limit must be 16777216 bytes (16 MiB) or more, not " +
                           std::to_string(limit_bytes))
        .About("memory_limit");
  }
  MemoryBudget::PerProcess().SetLimit(limit_bytes);
  return Ok();
}

std::uint64_t MemoryLimit() { return MemoryBudget::PerProcess().limit(); }

std::optional<MemoryBudget::Share> MemoryBudget::TryTake(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (!waiting_.empty() || !Fits(bytes)) return std::nullopt;
  return Grant(bytes);
}

Result<MemoryBudget::Share> MemoryBudget::Take(std::uint64_t bytes,
                                               const std::function<bool()>& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("MemoryBudget::Take"));
  std::list<Waiter> here{Waiter{std::this_thread::get_id()}};
  const auto place = here.begin();
  mutex_.Lock();
  // The queue was empty, so the timeout of the first waiter starts now.
  if (waiting_.empty()) last_change_ = std::chrono::steady_clock::now();
  waiting_.splice(waiting_.end(), here);
  if (place != waiting_.begin()) changed_.NotifyAll();  // the first waiter may be stuck now
  Promised promised;
  for (;;) {
    const bool first = place == waiting_.begin();
    if (first) TakeBack(bytes, promised);
    const bool stuck = first && IsStuck(bytes, promised);
    if (first && (Fits(bytes) || stuck)) {
      if (!Fits(bytes)) ++usage_.beyond_limit;
      waiting_.erase(place);
      Share share = Grant(bytes);
      mutex_.Unlock();
      changed_.NotifyAll();  // another waiter may be first now
      return share;
    }
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::min(kPoll, stall_limit_));
    if (!interrupt) continue;
    mutex_.Unlock();
    const Result<bool> give_up = PollInterrupt(interrupt);
    mutex_.Lock();
    if (give_up.ok() && !*give_up) continue;
    waiting_.erase(place);
    mutex_.Unlock();
    changed_.NotifyAll();
    if (!give_up.ok()) return give_up.error();
    return Error::Make(ErrorKind::kCancelled, "the wait for " + std::to_string(bytes) +
                                                  " bytes of memory was interrupted");
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

void MemoryBudget::Register(const std::shared_ptr<Evictable>& evictable) {
  if (!mine()) return;
  {
    const MutexLock lock(mutex_);
    if (evictable->withdrawn_) return;
    if (evictable->place_) {
      evictables_.splice(evictables_.end(), evictables_, *evictable->place_);
    } else {
      evictable->place_ = evictables_.insert(evictables_.end(), evictable);
    }
    if (waiting_.empty()) return;
  }
  changed_.NotifyAll();  // a waiter may need it
}

void MemoryBudget::Unregister(Evictable& evictable) { Unlist(evictable, !kForGood); }

void MemoryBudget::Withdraw(Evictable& evictable) { Unlist(evictable, kForGood); }

void MemoryBudget::Unlist(Evictable& evictable, bool for_good) {
  if (!mine()) return;
  std::shared_ptr<Evictable> last;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  evictable.withdrawn_ = evictable.withdrawn_ || for_good;
  if (!evictable.place_) return;
  last = std::move(**evictable.place_);
  evictables_.erase(*evictable.place_);
  evictable.place_.reset();
}

std::uint64_t MemoryBudget::FairShare() const {
  const MutexLock lock(mutex_);
  return limit() / std::max<std::size_t>(1, evictables_.size());
}

// Returns how many of the promised bytes have not been released yet.
std::uint64_t MemoryBudget::Promised::Missing(std::uint64_t held_now) const {
  const std::uint64_t returned = held - std::min(held, held_now);
  return bytes - std::min(bytes, returned);
}

// Evicts memory until `bytes` fit or enough is promised. Releases the lock during each eviction.
void MemoryBudget::TakeBack(std::uint64_t bytes, Promised& promised) {
  for (;;) {
    if (Fits(bytes) || evictables_.empty()) return;
    if (promised.bytes == 0) promised.held = usage_.held;
    const std::uint64_t coming = promised.Missing(usage_.held);
    // A request above the limit needs all memory.
    const std::uint64_t wanted = bytes > limit() ? usage_.held : usage_.held + bytes - limit();
    if (coming >= wanted) return;
    const std::uint64_t missing = wanted - coming;
    const std::shared_ptr<Evictable> evictable = std::move(evictables_.front());
    evictables_.pop_front();
    evictable->place_.reset();
    mutex_.Unlock();
    const std::uint64_t given = evictable->GiveUp(missing);
    mutex_.Lock();
    promised.bytes += given;
    usage_.taken_back += given;
    // It may have more to give.
    if (given >= missing && !evictable->place_ && !evictable->withdrawn_)
      evictable->place_ = evictables_.insert(evictables_.begin(), evictable);
  }
}

bool MemoryBudget::Fits(std::uint64_t bytes) const {
  const std::uint64_t most = limit();
  return usage_.held == 0 || (bytes <= most && usage_.held <= most - bytes);
}

bool MemoryBudget::IsStuck(std::uint64_t bytes, const Promised& promised) const {
  if (usage_.in_flight > 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_change_ >= stall_limit_) return true;
  if (promised.Missing(usage_.held) > 0) return false;
  // Even if all other threads release what they hold, the request will not fit.
  const std::uint64_t kept = HeldByWaitersAndIdle(now);
  const std::uint64_t most = limit();
  return kept > 0 && (bytes > most || kept > most - bytes);
}

// A thread is counted once, also if it waits again in an interrupt's handler.
std::uint64_t MemoryBudget::HeldByWaitersAndIdle(std::chrono::steady_clock::time_point now) const {
  std::uint64_t held = 0;
  for (const auto& [holder, taken] : taken_) {
    const bool waits = std::ranges::any_of(
        waiting_, [thread = holder](const Waiter& waiter) { return waiter.thread == thread; });
    if (waits || now - taken.last_change >= stall_limit_) held += taken.bytes;
  }
  return held;
}

MemoryBudget::Share MemoryBudget::Grant(std::uint64_t bytes) {
  std::thread::id taker = std::this_thread::get_id();
  last_change_ = std::chrono::steady_clock::now();
  try {
    Taken& taken = taken_[taker];
    taken.bytes += bytes;
    taken.last_change = last_change_;
  } catch (const std::bad_alloc&) {
    taker = {};  // counts as a thread that never waits
  }
  usage_.held += bytes;
  usage_.peak_held = std::max(usage_.peak_held, usage_.held);
  return Share(*this, bytes, taker);
}

void MemoryBudget::Release(const Share& share) {
  if (!mine()) return;
  {
    const MutexLock lock(mutex_);
    usage_.held -= share.bytes_;
    if (share.in_flight_) usage_.in_flight -= share.bytes_;
    last_change_ = std::chrono::steady_clock::now();
    if (const auto taken = taken_.find(share.taker_); taken != taken_.end()) {
      taken->second.bytes -= share.bytes_;
      taken->second.last_change = last_change_;
      if (taken->second.bytes == 0) taken_.erase(taken);
    }
    if (waiting_.empty()) return;
  }
  changed_.NotifyAll();
}

void MemoryBudget::ChangeInFlight(const Share& share) {
  if (!mine()) return;
  {
    const MutexLock lock(mutex_);
    if (share.in_flight_) {
      usage_.in_flight += share.bytes_;
    } else {
      usage_.in_flight -= share.bytes_;
    }
    last_change_ = std::chrono::steady_clock::now();
    if (const auto taken = taken_.find(share.taker_); taken != taken_.end())
      taken->second.last_change = last_change_;
    if (waiting_.empty() || usage_.in_flight > 0) return;
  }
  changed_.NotifyAll();  // the first waiter may be stuck now
}

bool MemoryBudget::mine() const { return process_ == ProcessId(); }

}  // namespace penstock
