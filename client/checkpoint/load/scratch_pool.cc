#include "client/checkpoint/load/scratch_pool.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace penstock::checkpoint {
namespace {

class HeapMemory final : public ScratchMemory {
 public:
  HeapMemory(std::unique_ptr<std::byte[]> data, std::uint64_t size)
      : data_(std::move(data)), size_(size) {}
  MutableByteView bytes() const override { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::uint64_t size_;
};

}  // namespace

Result<std::shared_ptr<ScratchMemory>> AllocateFromHeap(std::uint64_t bytes) {
  std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[bytes]);
  if (!data) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "no memory for " + std::to_string(bytes) + " bytes of a checkpoint");
  }
  return std::shared_ptr<ScratchMemory>(std::make_shared<HeapMemory>(std::move(data), bytes));
}

std::uint64_t Arena::Take(std::uint64_t size, bool aligned) {
  constexpr std::uint64_t kMask = ScratchPool::kAlignment - 1;
  if (aligned) used = (used + kMask) & ~kMask;
  return std::exchange(used, used + size);
}

Result<std::shared_ptr<Arena>> ScratchPool::Take(std::uint64_t size) {
  size += kAlignment;
  if (current_ && current_->left() >= size) {
    ++current_->users;
    return current_;
  }
  Retire();
  std::shared_ptr<Arena> found;
  if (!free_.empty() && size <= kArenaBytes) {
    found = std::move(free_.back());
    free_.pop_back();
    found->memory->Wait();
  } else {
    const std::uint64_t bytes = std::max(size, kArenaBytes);
    if (bytes_ + bytes > kArenas * kArenaBytes && held_ > 0) return found;
    if (size > kArenaBytes) DropFree();
    PENSTOCK_ASSIGN(std::shared_ptr<ScratchMemory> memory, allocate_(bytes));
    found = std::make_shared<Arena>(Arena{std::move(memory)});
    bytes_ += bytes;
  }
  ++held_;
  found->used = 0;
  found->users = 1;
  current_ = found;
  return found;
}

void ScratchPool::Release(const std::shared_ptr<Arena>& arena) {
  if (--arena->users == 0 && arena != current_) PutBack(arena);
}

void ScratchPool::Clear() {
  Retire();
  DropFree();
}

void ScratchPool::Retire() {
  const std::shared_ptr<Arena> arena = std::exchange(current_, nullptr);
  if (arena && arena->users == 0) PutBack(arena);
}

void ScratchPool::PutBack(const std::shared_ptr<Arena>& arena) {
  --held_;
  const std::uint64_t bytes = arena->memory->bytes().size();
  if (bytes == kArenaBytes) {
    free_.push_back(arena);
  } else {
    arena->memory->Wait();
    bytes_ -= bytes;
  }
}

void ScratchPool::DropFree() {
  for (const std::shared_ptr<Arena>& arena : free_) arena->memory->Wait();
  bytes_ -= kArenaBytes * free_.size();
  free_.clear();
}

}  // namespace penstock::checkpoint
