// Checksums of a blob's blocks, and a record of the blocks that this process has verified.
//
// Blobs in files and in the database have a CRC-32C for each MiB. The checksums are stored in the
// blob's row, so they are committed with the first record that refers to the blob and shared
// with the blob. Blobs in memory have none. Blobs written before schema version 4 have none
// until the scrubber has read them.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_BLOCK_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_BLOCK_CHECKSUMS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/base/types.h"

namespace penstock::emulator::store {

inline constexpr std::uint64_t kBlockBytes = 1 << 20;  // the last block of a blob may be shorter

inline std::uint64_t BlocksOf(std::uint64_t size) { return (size + kBlockBytes - 1) / kBlockBytes; }

// Computes checksums of bytes passed in order.
class BlockHasher {
 public:
  void Update(ByteView bytes);
  // The packed checksums: 4 bytes per block, little endian.
  std::string Finish();

 private:
  std::string packed_;
  std::uint32_t crc_ = 0;
  std::uint64_t filled_ = 0;  // bytes of the last block
};

// Whether `packed` has one checksum per block of a blob of `size` bytes.
bool FitsSize(std::string_view packed, std::uint64_t size);
std::uint32_t ChecksumOf(std::string_view packed, std::uint64_t block);
// Whether the whole blob `bytes` matches `packed`.
bool Matches(std::string_view packed, ByteView bytes);

// The verified blocks of one blob. Thread safety: any thread. A thread that reads a block as
// verified also sees all earlier writes of the thread that verified it.
class BlockBits {
 public:
  explicit BlockBits(std::uint64_t blocks) : words_((blocks + 63) / 64), left_(blocks) {}

  bool all() const { return left_.load(std::memory_order_acquire) == 0; }
  bool Test(std::uint64_t block) const {
    return (words_[block / 64].load(std::memory_order_acquire) >> (block % 64) & 1) != 0;
  }
  // True: this was the last unverified block.
  bool Set(std::uint64_t block) {
    const std::uint64_t mask = std::uint64_t{1} << (block % 64);
    if ((words_[block / 64].fetch_or(mask, std::memory_order_acq_rel) & mask) != 0) return false;
    return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::vector<std::atomic<std::uint64_t>> words_;
  std::atomic<std::uint64_t> left_;
};

// The verified blocks of all blobs of a store, including blobs that are not open. Uses 1 bit per
// fully verified blob and 1 bit per block of a partly verified one. Thread safety: any thread.
class VerifiedBlobs {
 public:
  // Null: all blocks are verified.
  std::shared_ptr<BlockBits> BitsOf(std::int64_t id, std::uint64_t blocks);
  // Ignored for a damaged blob.
  void MarkWhole(std::int64_t id);
  // Forgets the verified blocks of a blob in which damage was found. From now on its blocks are
  // verified each time that it is opened.
  void MarkDamaged(std::int64_t id);
  // Call when the blob is deleted.
  void Forget(std::int64_t id);

 private:
  static constexpr unsigned kGroupShift = 12;
  // Bits of consecutive blob numbers.
  using Group = std::array<std::uint64_t, (std::size_t{1} << kGroupShift) / 64>;

  Mutex mutex_;
  std::unordered_map<std::int64_t, std::unique_ptr<Group>> whole_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_map<std::int64_t, std::shared_ptr<BlockBits>> partly_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_set<std::int64_t> damaged_ PENSTOCK_GUARDED_BY(mutex_);  // in neither map
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOCK_CHECKSUMS_H_
