// A lock-free array that grows and never moves its elements.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_GROWING_ARRAY_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_GROWING_ARRAY_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace penstock::emulator::store {

// `T` is an atomic or consists of atomics; all elements are initially zero. The memory is at most
// twice the size of the elements up to the largest index, or 2^kFirstBits elements. It is released
// by the destructor. Thread safety: any thread.
template <class T, unsigned kFirstBits>
class GrowingArray {
 public:
  GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_acquire);
  }

  // Null: the element is zero and has no memory.
  T* Find(std::uint32_t index) const {
    T* const chunk = chunks_[ChunkOf(index)].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + (index - FirstOf(ChunkOf(index)));
  }
  // Null: memory ran out.
  T* FindOrMake(std::uint32_t index) noexcept {
    T* const found = Find(index);
    return found != nullptr || !MakeChunk(ChunkOf(index)) ? found : Find(index);
  }
  // Calls `visit` for the elements with memory, from `index` on.
  template <class Visit>
  void VisitFrom(std::uint32_t index, const Visit& visit) {
    for (std::size_t number = ChunkOf(index); number < kChunks; ++number) {
      T* const chunk = chunks_[number].load(std::memory_order_acquire);
      const std::uint32_t first = FirstOf(number);
      const std::size_t skipped = index > first ? index - first : 0;
      if (chunk == nullptr) continue;
      for (std::size_t i = skipped; i < SizeOf(number); ++i) visit(chunk[i]);
    }
  }

 private:
  // The first chunk has 2^kFirstBits elements. Each further chunk has as many as all chunks before
  // it together.
  static constexpr std::size_t kChunks = 32 - kFirstBits + 1;

  static std::size_t ChunkOf(std::uint32_t index) {
    const auto width = static_cast<unsigned>(std::bit_width(index));
    return width <= kFirstBits ? 0 : width - kFirstBits;
  }
  static std::uint32_t FirstOf(std::size_t chunk) {
    return chunk == 0 ? 0 : std::uint32_t{1} << (kFirstBits + chunk - 1);
  }
  static std::size_t SizeOf(std::size_t chunk) {
    return std::size_t{1} << (kFirstBits + (chunk == 0 ? 0 : chunk - 1));
  }

  bool MakeChunk(std::size_t number) noexcept {
    T* const fresh = new (std::nothrow) T[SizeOf(number)]();
    if (fresh == nullptr) return false;
    T* none = nullptr;
    if (!chunks_[number].compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) {
      delete[] fresh;  // another thread was faster
    }
    return true;
  }

  std::array<std::atomic<T*>, kChunks> chunks_{};
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_GROWING_ARRAY_H_
