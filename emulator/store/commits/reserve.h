// A file of preallocated space. It is returned to the file system when the disk is full, so that
// removals have space.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_RESERVE_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_RESERVE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::store {

// Thread safety: one thread at a time, except bytes(), which any thread may call.
class Reserve {
 public:
  // Creates the file with mode 0600, or takes over an existing one. If the file cannot be opened,
  // the reserve is always empty.
  explicit Reserve(const std::string& path);
  // Returns the space of a reserve to the file system. No process may have the reserve open.
  static void Release(const std::string& path);

  // Size of the reserve.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Extends it to `bytes`. False: the disk is full, and the reserve is unchanged. True also if
  // the file system cannot preallocate.
  bool Extend(std::uint64_t bytes) noexcept;
  // The same, but takes as much space as there is: `bytes`, a half, a quarter and so on.
  // False: the reserve is smaller than `bytes`, which is reported as the diagnostic event
  // "store.reserve_incomplete".
  bool ExtendUpTo(std::uint64_t bytes) noexcept;
  // Returns space to the file system, down to `bytes`. False: there was nothing to return.
  bool Shrink(std::uint64_t bytes) noexcept;

 private:
  const Descriptor file_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_RESERVE_H_
