// A lock-free set of one bit per page of a file.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_BITS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_BITS_H_

#include <atomic>
#include <cstdint>

#include "emulator/store/sqlite/growing_array.h"

namespace penstock::emulator::store {

// All bits are initially 0. Thread safety: any thread. A thread that reads a set bit also sees all
// writes that preceded it.
class PageBits {
 public:
  bool Test(std::uint32_t page) const {
    const Word* const word = words_.Find(page / 64);
    return word != nullptr && (word->load(std::memory_order_acquire) & MaskOf(page)) != 0;
  }
  // If memory runs out, the bit stays 0.
  void Set(std::uint32_t page) noexcept {
    if (Word* const word = words_.FindOrMake(page / 64))
      word->fetch_or(MaskOf(page), std::memory_order_release);
  }
  void Clear(std::uint32_t page) noexcept {
    if (Word* const word = words_.Find(page / 64))
      word->fetch_and(~MaskOf(page), std::memory_order_release);
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  static constexpr unsigned kFirstBits = 4;  // 16 words: the pages below 2^10

  static std::uint64_t MaskOf(std::uint32_t page) { return std::uint64_t{1} << (page % 64); }

  GrowingArray<Word, kFirstBits> words_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_BITS_H_
