// A file of preallocated space that is given back to the file system when the disk is full, so that
// removals have room.
#ifndef PENSTOCK_EMULATOR_STORE_RESERVE_H_
#define PENSTOCK_EMULATOR_STORE_RESERVE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "emulator/store/blobs/descriptor.h"

namespace penstock::emulator::store {

// Thread safety: one thread at a time; bytes() from any.
class Reserve {
 public:
  // Creates the file with mode 0600, or takes over what is left of it. Without the file the reserve
  // is always empty.
  explicit Reserve(const std::string& path);
  // Gives the space of a reserve back to the file system that no process holds.
  static void Release(const std::string& path);

  // What it holds, in bytes.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Extends it to `bytes`. False: the disk is full, and the reserve is as before. True also where
  // the file system cannot preallocate.
  bool Extend(std::uint64_t bytes) noexcept;
  // The same, but keeps as much as there is room for: `bytes`, a half of it, a quarter and so on.
  // False: less than `bytes`.
  bool ExtendUpTo(std::uint64_t bytes) noexcept;
  // Gives space back to the file system, down to `bytes`. False: there was nothing to give.
  bool Shrink(std::uint64_t bytes) noexcept;

 private:
  const Descriptor file_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_RESERVE_H_
