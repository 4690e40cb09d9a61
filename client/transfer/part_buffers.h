// Memory for parts on their way out: allocated once, used again, never zero-filled.
#ifndef PENSTOCK_CLIENT_TRANSFER_PART_BUFFERS_H_
#define PENSTOCK_CLIENT_TRANSFER_PART_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::transfer {

// One buffer and how much of it is filled. Movable; empty by default.
struct PartBuffer {
  std::unique_ptr<std::byte[]> data;
  std::size_t capacity = 0;
  std::size_t size = 0;

  std::size_t room() const { return capacity - size; }
  ByteView view() const { return {data.get(), size}; }
  // Copies as much of `bytes` as fits; returns how much that was.
  std::size_t Append(ByteView bytes);
};

// A small free list. Thread safety: safe from any thread.
class PartBuffers {
 public:
  // Keeps at most `most_kept` buffers for reuse.
  explicit PartBuffers(std::size_t most_kept) : most_kept_(most_kept) {}

  // An empty buffer of exactly that capacity; kResourceExhausted when there is no memory. Kept buffers of another
  // capacity are given back to the system: parts only grow.
  Result<PartBuffer> Take(std::size_t capacity);
  void Return(PartBuffer buffer);

 private:
  const std::size_t most_kept_;
  Mutex mutex_;
  std::vector<PartBuffer> free_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_PART_BUFFERS_H_
