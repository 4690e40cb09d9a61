#include "client/transfer/part_buffers.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "client/transfer/part_plan.h"

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
  if (capacity <= kMaxPartBytes) {  // more is no part of S3's, and more than an allocator should be asked for
    if (std::unique_ptr<std::byte[]> data(new (std::nothrow) std::byte[capacity]); data) {
      return PartBuffer{std::move(data), capacity, 0};
    }
  }
  return Error::Make(ErrorKind::kResourceExhausted, "no memory for a part of " + std::to_string(capacity) +
                                                        " bytes: use smaller or fewer parallel parts");
}

void PartBuffers::Return(PartBuffer buffer) {
  const MutexLock lock(mutex_);
  if (buffer.data && free_.size() < most_kept_) free_.push_back(std::move(buffer));
}

}  // namespace penstock::transfer
