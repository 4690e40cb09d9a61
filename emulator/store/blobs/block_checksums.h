// Checksums of a blob's blocks, and which blocks this process has verified.
//
// A blob in a file and one in the database have the CRC-32C of each MiB of their bytes, kept in the
// blob's row: it is committed with the first record that refers to the blob, and shared by
// everything that shares the blob. Blobs in memory have none, nor have blobs that a version before
// schema version 4 wrote, until the scrubber has read them.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_BLOCK_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_BLOCK_CHECKSUMS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/base/types.h"

namespace penstock::emulator::store {

inline constexpr std::uint64_t kBlockBytes = 1 << 20;  // the last block of a blob is shorter

inline std::uint64_t BlocksOf(std::uint64_t size) { return (size + kBlockBytes - 1) / kBlockBytes; }

// Takes a blob's bytes in order.
class BlockHasher {
 public:
  void Update(ByteView bytes);
  // The packed checksums: 4 bytes for each block, little endian.
  std::string Finish();

 private:
  std::string packed_;
  std::uint32_t crc_ = 0;
  std::uint64_t filled_ = 0;  // bytes of the last block
};

// Whether `packed` has one checksum for each block of a blob of that size.
bool FitsSize(std::string_view packed, std::uint64_t size);
std::uint32_t ChecksumOf(std::string_view packed, std::uint64_t block);
// Whether the whole blob `bytes` matches.
bool Matches(std::string_view packed, ByteView bytes);

// Which blocks of one blob were verified. Thread safety: any thread; who sees a block as verified
// sees everything that happened before.
class BlockBits {
 public:
  explicit BlockBits(std::uint64_t blocks) : words_((blocks + 63) / 64), left_(blocks) {}

  bool all() const { return left_.load(std::memory_order_acquire) == 0; }
  bool Test(std::uint64_t block) const {
    return (words_[block / 64].load(std::memory_order_acquire) >> (block % 64) & 1) != 0;
  }
  // True: it was the last one that was missing.
  bool Set(std::uint64_t block) {
    const std::uint64_t mask = std::uint64_t{1} << (block % 64);
    if ((words_[block / 64].fetch_or(mask, std::memory_order_acq_rel) & mask) != 0) return false;
    return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::vector<std::atomic<std::uint64_t>> words_;
  std::atomic<std::uint64_t> left_;
};

// What was verified of all blobs of a store, also of those that are not open: 1 bit for a blob that
// was verified as a whole, 1 bit for each block of one that was verified in part. Thread safety:
// any thread.
class VerifiedBlobs {
 public:
  // Null: all of it was verified.
  std::shared_ptr<BlockBits> BitsOf(std::int64_t id, std::uint64_t blocks);
  void MarkWhole(std::int64_t id);
  // Of a blob that is no more.
  void Forget(std::int64_t id);

 private:
  static constexpr unsigned kGroupShift = 12;
  // of consecutive numbers
  using Group = std::array<std::uint64_t, (std::size_t{1} << kGroupShift) / 64>;

  Mutex mutex_;
  std::unordered_map<std::int64_t, std::unique_ptr<Group>> whole_ PENSTOCK_GUARDED_BY(mutex_);
  std::unordered_map<std::int64_t, std::shared_ptr<BlockBits>> partly_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOCK_CHECKSUMS_H_
