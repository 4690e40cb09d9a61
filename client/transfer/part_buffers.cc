#include "client/transfer/part_buffers.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace penstock::transfer {

std::size_t PartBuffer::Append(ByteView bytes) {
  const std::size_t count = std::min(bytes.size(), room());
  if (count > 0) std::memcpy(data.get() + size, bytes.data(), count);
  size += count;
  return count;
}

Result<PartBuffer> PartBuffers::Take(std::size_t capacity) {
  std::vector<PartBuffer> outgrown;  // freed after the lock
  {
    const MutexLock lock(mutex_);
    while (!free_.empty()) {
      PartBuffer buffer = std::move(free_.back());
      free_.pop_back();
      if (buffer.capacity == capacity) {
        buffer.size = 0;
        return buffer;
      }
      outgrown.push_back(std::move(buffer));
    }
  }
  outgrown.clear();
  try {
    return PartBuffer{std::make_unique_for_overwrite<std::byte[]>(capacity), capacity, 0};
  } catch (const std::bad_alloc&) {
    return Error::Make(ErrorKind::kResourceExhausted, "no memory for a part of " + std::to_string(capacity) +
                                                          " bytes: use smaller or fewer parallel parts");
  }
}

void PartBuffers::Return(PartBuffer buffer) {
  const MutexLock lock(mutex_);
  if (buffer.data && free_.size() < most_kept_) free_.push_back(std::move(buffer));
}

}  // namespace penstock::transfer
