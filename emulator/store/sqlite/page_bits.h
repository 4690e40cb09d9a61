// A lock-free set of one bit per page of a file.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_BITS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_BITS_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace penstock::emulator::store {

// All bits are initially 0. Thread safety: any thread. A thread that reads a set bit also sees all
// writes that preceded it.
class PageBits {
 public:
  PageBits() = default;
  PageBits(const PageBits&) = delete;
  PageBits& operator=(const PageBits&) = delete;
  ~PageBits() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_acquire);
  }

  bool Test(std::uint32_t page) const {
    const Word* const chunk = chunks_[ChunkOf(page)].load(std::memory_order_acquire);
    return chunk != nullptr &&
           (chunk[WordOf(page)].load(std::memory_order_acquire) & MaskOf(page)) != 0;
  }
  // If memory runs out, the bit stays 0.
  void Set(std::uint32_t page) noexcept {
    if (Word* const chunk = MakeChunk(page))
      chunk[WordOf(page)].fetch_or(MaskOf(page), std::memory_order_release);
  }
  void Clear(std::uint32_t page) noexcept {
    Word* const chunk = chunks_[ChunkOf(page)].load(std::memory_order_acquire);
    if (chunk != nullptr) chunk[WordOf(page)].fetch_and(~MaskOf(page), std::memory_order_release);
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  // The first chunk covers the pages below 2^10. Each further chunk covers as many pages as all
  // chunks before it together.
  static constexpr unsigned kFirstBits = 10;
  static constexpr std::size_t kChunks = 32 - kFirstBits + 1;

  static std::size_t ChunkOf(std::uint32_t page) {
    const auto width = static_cast<unsigned>(std::bit_width(page));
    return width <= kFirstBits ? 0 : width - kFirstBits;
  }
  static std::uint32_t FirstOf(std::size_t chunk) {
    return chunk == 0 ? 0 : std::uint32_t{1} << (kFirstBits + chunk - 1);
  }
  static std::size_t WordOf(std::uint32_t page) { return (page - FirstOf(ChunkOf(page))) / 64; }
  static std::uint64_t MaskOf(std::uint32_t page) { return std::uint64_t{1} << (page % 64); }

  Word* MakeChunk(std::uint32_t page) noexcept {
    const std::size_t index = ChunkOf(page);
    Word* chunk = chunks_[index].load(std::memory_order_acquire);
    if (chunk != nullptr) return chunk;
    const std::size_t pages = std::size_t{1} << (kFirstBits + (index == 0 ? 0 : index - 1));
    Word* const fresh = new (std::nothrow) Word[pages / 64]();
    if (fresh == nullptr) return nullptr;
    if (chunks_[index].compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel,
                                               std::memory_order_acquire))
      return fresh;
    delete[] fresh;
    return chunk;
  }

  std::array<std::atomic<Word*>, kChunks> chunks_{};
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_BITS_H_
