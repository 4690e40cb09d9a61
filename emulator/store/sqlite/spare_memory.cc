#include "emulator/store/sqlite/spare_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "emulator/store/own_thread.h"

namespace penstock::emulator::store {
namespace {

using std::chrono::steady_clock;

constinit DiagnosticEvent not_kept("store.spare_memory_not_kept");
// times; from a larger one more would be cut off than is used
constexpr std::uint64_t kLargerBy = 4;

MemoryFile NewMemory() {
  MemoryFile fresh;
  fresh.share = DescriptorShare::Take();
  if (fresh.share.held()) fresh.file = Descriptor(::memfd_create("penstock-blob", MFD_CLOEXEC));
  return fresh;
}

}  // namespace

SpareMemory::~SpareMemory() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.NotifyAll();
  }
  if (thread.joinable()) thread.join();
}

MemoryFile SpareMemory::Take(std::uint64_t size) {
  MemoryFile memory;
  {
    const MutexLock lock(mutex_);
    const auto best = BestFor(size);
    if (best != spares_.end()) memory = TakeOut(best);
  }
  if (!memory.file) memory = NewMemory();
  if (!memory.file) {  // no descriptor is to be had: then one that a spare holds
    const MutexLock lock(mutex_);
    if (!spares_.empty()) memory = TakeOut(spares_.begin());
  }
  if (memory.size > 0 && ::lseek(memory.file.get(), 0, SEEK_SET) != 0) return {};
  return memory;
}

SpareMemory::Spares::iterator SpareMemory::BestFor(std::uint64_t size) {
  const auto enough = spares_.lower_bound(size);
  if (enough != spares_.end() && enough->first / kLargerBy <= size) return enough;
  return enough == spares_.begin() ? spares_.end() : std::prev(enough);
}

void SpareMemory::Stored(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  stored_ += bytes;
}

// Called by destructors. Without memory for its entry, a file is closed.
void SpareMemory::GiveBack(MemoryFile memory, bool sent) noexcept {
  try {
    Keep(std::move(memory), sent);
  } catch (...) {
    not_kept.Report(CurrentExceptionError());
  }
}

void SpareMemory::Keep(MemoryFile memory, bool sent) {
  std::vector<MemoryFile> gone;  // closed outside the lock: that of 8 MiB takes a millisecond
  const MutexLock lock(mutex_);
  stored_ -= memory.size;
  if (!sent && memory.size > 0 && HasOwnThread(thread_, [this] { Work(); })) {
    const std::uint64_t size = memory.size;
    spares_.emplace(size, Spare{std::move(memory), steady_clock::now() + limits_.kept_for});
    held_ += size;
    if (spares_.size() == 1) changed_.NotifyAll();
  } else {
    gone.push_back(std::move(memory));
  }
  Shed(gone);
}

void SpareMemory::Reclaim() {
  Spares gone;  // closed outside the lock
  const MutexLock lock(mutex_);
  gone.swap(spares_);
  held_ = 0;
}

std::uint64_t SpareMemory::held_bytes() {
  const MutexLock lock(mutex_);
  return held_;
}

void SpareMemory::Shed(std::vector<MemoryFile>& gone) {
  const std::uint64_t most = std::min(limits_.most_bytes, std::max(limits_.floor_bytes, stored_));
  while (held_ > most) gone.push_back(TakeOut(spares_.begin()));
}

MemoryFile SpareMemory::TakeOut(Spares::iterator spare) {
  MemoryFile memory = std::move(spare->second.memory);
  held_ -= memory.size;
  spares_.erase(spare);
  return memory;
}

void SpareMemory::ShedOld(steady_clock::time_point now, std::vector<MemoryFile>& gone) {
  for (auto spare = spares_.begin(); spare != spares_.end();) {
    const auto next = std::next(spare);
    if (spare->second.until <= now) gone.push_back(TakeOut(spare));
    spare = next;
  }
}

void SpareMemory::Work() {
  for (;;) {
    std::vector<MemoryFile> gone;  // closed outside the lock
    const MutexLock lock(mutex_);
    while (spares_.empty() && !stopping_) changed_.WaitIdle(mutex_);
    if (stopping_) return;
    try {
      ShedOld(steady_clock::now(), gone);
    } catch (...) {  // the spare that it was at has been closed
      not_kept.Report(CurrentExceptionError());
      continue;
    }
    if (!gone.empty()) continue;
    changed_.WaitUntil(mutex_, steady_clock::now() + limits_.kept_for / 4);
  }
}

}  // namespace penstock::emulator::store
