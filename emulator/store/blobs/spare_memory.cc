#include "emulator/store/blobs/spare_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "emulator/store/blobs/own_thread.h"

namespace penstock::emulator::store {
namespace {

using std::chrono::steady_clock;

constinit DiagnosticEvent not_kept("store.spare_memory_not_kept");
// A kept file may be at most this many times larger than needed: of a larger one, more would be
// truncated than used.
constexpr std::uint64_t kMaxSizeRatio = 4;

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
  if (!memory.file) {  // no descriptor is available: reuse that of any kept file
    const MutexLock lock(mutex_);
    if (!spares_.empty()) memory = TakeOut(spares_.begin());
  }
  if (memory.size > 0 && ::lseek(memory.file.get(), 0, SEEK_SET) != 0) return {};
  return memory;
}

SpareMemory::Spares::iterator SpareMemory::BestFor(std::uint64_t size) {
  const auto enough = spares_.lower_bound(size);
  if (enough != spares_.end() && enough->first / kMaxSizeRatio <= size) return enough;
  return enough == spares_.begin() ? spares_.end() : std::prev(enough);
}

void SpareMemory::AddStored(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  stored_ += bytes;
}

// Called by destructors. If memory runs out, the file is closed instead.
void SpareMemory::Return(MemoryFile memory, bool sent) noexcept {
  try {
    Keep(std::move(memory), sent);
  } catch (...) {
    not_kept.Report(CurrentExceptionError());
  }
}

void SpareMemory::Keep(MemoryFile memory, bool sent) {
  std::vector<MemoryFile> evicted;  // closed outside the lock: closing 8 MiB takes 1 ms
  const MutexLock lock(mutex_);
  stored_ -= memory.size;
  if (!sent && memory.size > 0 && EnsureThread(thread_, [this] { Work(); })) {
    const std::uint64_t size = memory.size;
    spares_.emplace(size, Spare{std::move(memory), steady_clock::now() + limits_.kept_for});
    held_ += size;
    if (spares_.size() == 1) changed_.NotifyAll();
  } else {
    evicted.push_back(std::move(memory));
  }
  TrimToLimit(evicted);
}

void SpareMemory::Reclaim() {
  Spares evicted;  // closed outside the lock
  const MutexLock lock(mutex_);
  evicted.swap(spares_);
  held_ = 0;
}

std::uint64_t SpareMemory::held_bytes() {
  const MutexLock lock(mutex_);
  return held_;
}

void SpareMemory::TrimToLimit(std::vector<MemoryFile>& evicted) {
  const std::uint64_t most = std::min(limits_.max_bytes, std::max(limits_.floor_bytes, stored_));
  while (held_ > most) evicted.push_back(TakeOut(spares_.begin()));
}

MemoryFile SpareMemory::TakeOut(Spares::iterator spare) {
  MemoryFile memory = std::move(spare->second.memory);
  held_ -= memory.size;
  spares_.erase(spare);
  return memory;
}

void SpareMemory::EvictExpired(steady_clock::time_point now, std::vector<MemoryFile>& evicted) {
  for (auto spare = spares_.begin(); spare != spares_.end();) {
    const auto next = std::next(spare);
    if (spare->second.until <= now) evicted.push_back(TakeOut(spare));
    spare = next;
  }
}

void SpareMemory::Work() {
  for (;;) {
    std::vector<MemoryFile> evicted;  // closed outside the lock
    const MutexLock lock(mutex_);
    while (spares_.empty() && !stopping_) changed_.WaitIdle(mutex_);
    if (stopping_) return;
    try {
      EvictExpired(steady_clock::now(), evicted);
    } catch (...) {  // the entry being removed has been closed
      not_kept.Report(CurrentExceptionError());
      continue;
    }
    if (!evicted.empty()) continue;
    changed_.WaitUntil(mutex_, steady_clock::now() + limits_.kept_for / 4);
  }
}

}  // namespace penstock::emulator::store
