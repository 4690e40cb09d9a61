#include "emulator/store/blobs/blob_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace penstock::emulator::store {
namespace {

constexpr std::uint64_t kMemfdFrom = 256 << 10;
constexpr std::size_t kFirstChunk = 16 << 10;
constexpr std::size_t kLargestChunk = 8 << 20;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kBlobOverhead = 256;  // approximate size of a blob's C++ objects

// Writes heap chunks, each of which becomes a blob, so that growing never moves bytes.
class MemoryBlobWriter final : public BlobWriter {
 public:
  MemoryBlobWriter(std::shared_ptr<BlobRegistry> registry, std::uint64_t size_hint)
      : registry_(std::move(registry)), size_hint_(size_hint) {}

  Result<void> Append(ByteView bytes) override {
    if (!memory_.file && !memfd_refused_ &&
        std::max(size_hint_, size_ + bytes.size()) >= kMemfdFrom) {
      PENSTOCK_TRY(MoveToMemfd());
    }
    size_ += bytes.size();
    if (memory_.file) return WriteToMemfd(bytes);
    while (!bytes.empty()) {
      if (chunks_.empty() || chunks_.back().size() == chunks_.back().capacity())
        PENSTOCK_TRY(AddChunk(bytes.size()));
      bytes = chunks_.back().Fill(bytes);
    }
    return Ok();
  }

  Result<Content> Finish() override {
    Content content;
    if (memory_.file && size_ > 0) {
      PENSTOCK_TRY(TruncateToSize());
      Add(content, std::make_shared<MemfdBlob>(registry_, registry_->NextId(), std::move(memory_)));
    }
    for (HeapBuffer& chunk : chunks_) {
      chunk.Trim();
      Add(content, std::make_shared<HeapBlob>(registry_, registry_->NextId(), std::move(chunk)));
    }
    chunks_.clear();
    return content;
  }

 private:
  void Add(Content& content, const StoredBlobPtr& blob) {
    registry_->AddPending(blob);
    content.slices.push_back({blob, {0, blob->size()}});
  }

  Result<void> AddChunk(std::size_t at_least) {
    std::uint64_t capacity = chunks_.empty() ? kFirstChunk : 2 * chunks_.back().capacity();
    // Exactly the rest if the size is known.
    if (size_hint_ >= size_) capacity = size_hint_ - held_;
    capacity = std::clamp<std::uint64_t>(capacity, std::min<std::size_t>(at_least, kLargestChunk),
                                         kLargestChunk);
    MemoryCharge charge(registry_->memory_limit());
    PENSTOCK_TRY(charge.GrowTo(capacity + kBlobOverhead));
    chunks_.emplace_back(static_cast<std::size_t>(capacity), std::move(charge));
    held_ += capacity;
    return Ok();
  }

  Result<void> MoveToMemfd() {
    memory_ = registry_->spare_memory().Take(std::max(size_hint_, size_));
    if (!memory_.file) {
      memfd_refused_ = true;
      return Ok();
    }
    if (memory_.size == 0) memory_.charge = MemoryCharge(registry_->memory_limit());
    for (const HeapBuffer& chunk : chunks_) PENSTOCK_TRY(WriteToMemfd(chunk.view()));
    chunks_.clear();
    return Ok();
  }

  // Reused memory may be larger than the blob. Truncation removes its old content.
  Result<void> TruncateToSize() {
    const bool larger = memory_.size > size_;
    memory_.size = size_;
    if (larger && ::ftruncate(memory_.file.get(), static_cast<off_t>(size_)) != 0) {
      return SystemError(ErrorKind::kInternal, "truncate", "an object in memory", errno);
    }
    memory_.charge.SetAnyway(ChargeFor(size_));
    return Ok();
  }

  static std::uint64_t ChargeFor(std::uint64_t size) {
    return (size + kPage - 1) / kPage * kPage + kBlobOverhead;
  }

  Result<void> WriteToMemfd(ByteView bytes) {
    written_ += bytes.size();
    PENSTOCK_TRY(memory_.charge.GrowTo(ChargeFor(written_)));
    if (const int error = WriteAll(memory_.file.get(), bytes); error != 0) {
      return SystemError(ErrorKind::kInternal, "write", "an object in memory", error);
    }
    return Ok();
  }

  const std::shared_ptr<BlobRegistry> registry_;
  const std::uint64_t size_hint_;
  std::uint64_t size_ = 0;     // appended
  std::uint64_t held_ = 0;     // capacity of all chunks
  std::uint64_t written_ = 0;  // bytes written to the memfd
  std::vector<HeapBuffer> chunks_;
  MemoryFile memory_;
  bool memfd_refused_ = false;
};

}  // namespace

ByteView HeapBuffer::Fill(ByteView bytes) {
  const std::size_t count = std::min(bytes.size(), capacity_ - size_);
  if (count > 0) std::memcpy(bytes_.get() + size_, bytes.data(), count);
  size_ += count;
  return bytes.subspan(count);
}

void HeapBuffer::Trim() {
  if (size_ >= capacity_ - capacity_ / 4) return;
  HeapBuffer exact(size_);
  exact.Fill(view());
  charge_.SetAnyway(charge_.bytes() - (capacity_ - size_));
  std::swap(charge_, exact.charge_);
  *this = std::move(exact);
}

std::unique_ptr<BlobWriter> NewMemoryBlobWriter(std::shared_ptr<BlobRegistry> registry,
                                                std::uint64_t size_hint) {
  return std::make_unique<MemoryBlobWriter>(std::move(registry), size_hint);
}

}  // namespace penstock::emulator::store
