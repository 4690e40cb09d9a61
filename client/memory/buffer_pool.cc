// A pool of mapped buffers, kept for reuse.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/process_id.h"
#include "client/memory/per_process.h"
#include "penstock/memory.h"

namespace penstock {
namespace {

constexpr std::uint64_t kMaxKeptBytes = 256ull << 20;
// Larger than any address space, so that rounding cannot overflow.
constexpr std::size_t kMaxBytes = std::size_t{1} << 48;

constexpr std::size_t kSmallUnit = 64 << 10;
constexpr std::size_t kPage = 4 << 10;

// Maps `size` bytes. Multiples of kUnit are aligned to kUnit. Returns null if the system has no
// memory.
std::byte* Map(std::size_t size) {
  const bool small = size % BufferPool::kUnit != 0;
  const std::size_t mapped_size = small ? size : size + BufferPool::kUnit;
  void* mapped = ::mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  if (small) return begin;
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(begin) % BufferPool::kUnit;
  const std::size_t before = beyond == 0 ? 0 : BufferPool::kUnit - beyond;
  if (before > 0) ::munmap(begin, before);
  const std::size_t after = mapped_size - before - size;
  if (after > 0) ::munmap(begin + before + size, after);
  // Advisory: a kernel without huge pages uses small pages.
  ::madvise(begin + before, size, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  if (this == &other) return *this;
  Release();
  pool_ = std::exchange(other.pool_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  share_ = std::move(other.share_);
  return *this;
}

void PooledBuffer::Release() {
  if (data_ != nullptr) pool_->Keep(data_, size_);
  pool_ = nullptr;
  data_ = nullptr;
  size_ = 0;
  share_.Release();  // last, so that the next owner of the budget finds the memory in the pool
}

std::size_t BufferPool::SizeFor(std::size_t bytes, Grain grain) {
  const std::size_t wanted = std::clamp<std::size_t>(bytes, 1, kMaxBytes);
  const bool small = grain == Grain::kSmall && wanted < kMinHugeBytes;
  const std::size_t unit = !small ? kUnit : wanted <= kSmallUnit ? kPage : kSmallUnit;
  return (wanted + unit - 1) / unit * unit;
}

BufferPool::BufferPool(MemoryBudget& budget) : process_(ProcessId()), budget_(budget) {}

BufferPool::~BufferPool() {
  if (process_ == ProcessId()) Trim();
}

BufferPool& BufferPool::PerProcess() {
  static constinit memory::PerProcess<BufferPool> pools;
  return pools.Mine([](const BufferPool*) { return new BufferPool(MemoryBudget::PerProcess()); });
}

Result<std::optional<PooledBuffer>> BufferPool::TryTake(std::size_t bytes, Grain grain) {
  const std::size_t size = SizeFor(bytes, grain);
  std::optional<MemoryBudget::Share> share = budget_.TryTake(size);
  if (!share) return std::optional<PooledBuffer>();
  PENSTOCK_ASSIGN(PooledBuffer buffer, Fill(std::move(*share), size));
  return std::optional<PooledBuffer>(std::move(buffer));
}

Result<PooledBuffer> BufferPool::Take(std::size_t bytes, const std::function<bool()>& interrupt,
                                      Grain grain) {
  const std::size_t size = SizeFor(bytes, grain);
  PENSTOCK_ASSIGN(MemoryBudget::Share share, budget_.Take(size, interrupt));
  return Fill(std::move(share), size);
}

Result<PooledBuffer> BufferPool::Fill(MemoryBudget::Share share, std::size_t size) {
  PooledBuffer buffer;
  Freed freed;
  {
    const MutexLock lock(mutex_);
    const auto found = kept_.find(size);
    if (found != kept_.end() && !found->second.empty()) {
      buffer.data_ = found->second.back();
      found->second.pop_back();
      kept_bytes_ -= size;
    } else {
      DropKept(Room(), freed);
    }
  }
  for (const auto& [data, bytes] : freed) ::munmap(data, bytes);
  if (buffer.data_ == nullptr) buffer.data_ = Map(size);
  if (buffer.data_ == nullptr) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "no memory for a buffer of " + std::to_string(size) +
                           " bytes: use smaller or fewer parts, or a lower memory limit")
        .About("memory_limit");
  }
  buffer.pool_ = this;
  buffer.size_ = size;
  buffer.share_ = std::move(share);
  return buffer;
}

void BufferPool::Keep(std::byte* data, std::size_t size) {
  if (process_ != ProcessId()) return;  // the buffer belongs to the parent, whose lock may be held
  Freed freed;
  {
    const MutexLock lock(mutex_);
    kept_[size].push_back(data);
    kept_bytes_ += size;
    DropKept(MaxKept(), freed);
  }
  for (const auto& [memory, bytes] : freed) ::munmap(memory, bytes);
}

void BufferPool::Trim() {
  Freed freed;
  {
    const MutexLock lock(mutex_);
    DropKept(0, freed);
  }
  for (const auto& [data, bytes] : freed) ::munmap(data, bytes);
}

void BufferPool::MakeRoom() {
  Freed freed;
  {
    const MutexLock lock(mutex_);
    if (kept_bytes_ == 0) return;
    DropKept(Room(), freed);
  }
  for (const auto& [data, bytes] : freed) ::munmap(data, bytes);
}

std::uint64_t BufferPool::Room() const {
  const std::uint64_t limit = budget_.limit();
  const std::uint64_t held = budget_.usage().held;
  return limit > held ? limit - held : 0;
}

std::uint64_t BufferPool::kept_bytes() const {
  const MutexLock lock(mutex_);
  return kept_bytes_;
}

void BufferPool::DropKept(std::uint64_t max_bytes, Freed& freed) {
  // Frees the largest first, because few callers need so large a buffer.
  while (kept_bytes_ > max_bytes) {
    const auto largest = std::prev(kept_.end());
    if (largest->second.empty()) {
      kept_.erase(largest);
      continue;
    }
    freed.emplace_back(largest->second.back(), largest->first);
    largest->second.pop_back();
    kept_bytes_ -= largest->first;
  }
}

std::uint64_t BufferPool::MaxKept() const { return std::min(kMaxKeptBytes, budget_.limit() / 4); }

}  // namespace penstock
