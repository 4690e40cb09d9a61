// Blobs in memory: on the heap, or in a memfd that sockets can send from without copying.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_MEMORY_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_MEMORY_H_

#include <atomic>
#include <memory>
#include <utility>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/blobs/spare_memory.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::store {

// A buffer of fixed capacity, filled from the front.
class HeapBuffer {
 public:
  HeapBuffer() = default;
  // `charge` covers the capacity if there is a memory limit.
  explicit HeapBuffer(std::size_t capacity, MemoryCharge charge = {})
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(capacity)),
        capacity_(capacity),
        charge_(std::move(charge)) {}

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  ByteView view() const { return {bytes_.get(), size_}; }
  // Copies what fits and returns the rest.
  ByteView Fill(ByteView bytes);
  void Clear() { size_ = 0; }
  // Frees unused memory if more than a quarter of the capacity is unused.
  void Trim();

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  MemoryCharge charge_;
};

class HeapBlob final : public StoredBlob {
 public:
  HeapBlob(std::shared_ptr<BlobRegistry> registry, std::int64_t id, HeapBuffer buffer,
           std::string block_checksums = {})
      : StoredBlob(std::move(registry), id, true, std::move(block_checksums)),
        buffer_(std::move(buffer)) {}
  std::uint64_t size() const override { return buffer_.size(); }
  std::optional<ByteView> Memory() const override { return buffer_.view(); }
  int FileDescriptor() const override { return -1; }

 private:
  const HeapBuffer buffer_;
};

class MemfdBlob final : public StoredBlob {
 public:
  MemfdBlob(std::shared_ptr<BlobRegistry> registry, std::int64_t id, MemoryFile memory)
      : StoredBlob(registry, id, true),
        spare_(registry->spare_memory()),
        memory_(std::move(memory)) {
    spare_.AddStored(memory_.size);
  }
  ~MemfdBlob() override {
    spare_.Return(std::move(memory_), descriptor_shared_.load(std::memory_order_acquire));
  }
  std::uint64_t size() const override { return memory_.size; }
  std::optional<ByteView> Memory() const override { return std::nullopt; }
  int FileDescriptor() const override {
    descriptor_shared_.store(true, std::memory_order_release);
    return memory_.file.get();
  }
  bool InFile() const override { return true; }

 private:
  SpareMemory& spare_;  // owned by the registry, which StoredBlob keeps alive
  MemoryFile memory_;
  mutable std::atomic<bool> descriptor_shared_{false};  // true: a socket may hold pages
};

// For memory mode. A blob of 256 KiB or more is written to a memfd, or to heap chunks if no
// descriptor is available.
std::unique_ptr<BlobWriter> NewMemoryBlobWriter(std::shared_ptr<BlobRegistry> registry,
                                                std::uint64_t size_hint);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_MEMORY_H_
