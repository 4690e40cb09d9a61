// Scans text eight bytes at a time. For parsers with many short runs.
#ifndef PENSTOCK_BASE_TEXT_BYTE_RUNS_H_
#define PENSTOCK_BASE_TEXT_BYTE_RUNS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace penstock::internal {

inline constexpr std::uint64_t kEachByte = 0x0101010101010101;
inline constexpr std::uint64_t kHighBits = kEachByte * 0x80;

inline std::uint64_t LoadWord(const char* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Sets the high bit of every byte that is not an ASCII letter.
inline std::uint64_t NonLetters(std::uint64_t word) {
  const std::uint64_t lower = (word | kEachByte * 0x20) & ~kHighBits;
  const std::uint64_t from_a = (lower | kHighBits) - kEachByte * 'a';   // high bit: >= 'a'
  const std::uint64_t past_z = lower + kEachByte * (0x80 - ('z' + 1));  // high bit: > 'z'
  return (~from_a | past_z | word) & kHighBits;
}

// Sets the high bit of the first byte that is '<', '&' or a control character. Bits of later bytes
// are undefined.
inline std::uint64_t TextStops(std::uint64_t word) {
  const auto zeros = [](std::uint64_t w) { return (w - kEachByte) & ~w; };
  const std::uint64_t controls = (word - kEachByte * 0x20) & ~word;
  return (zeros(word ^ kEachByte * '<') | zeros(word ^ kEachByte * '&') | controls) & kHighBits;
}

// Returns the offset of the first byte at or after `at` for which `stops` sets a bit. Checks whole
// words only, so the result can be up to seven bytes too early.
template <std::uint64_t (*stops)(std::uint64_t)>
std::size_t SkipRun(std::string_view text, std::size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    const std::uint64_t found = stops(LoadWord(text.data() + at));
    if (found == 0) continue;
    if constexpr (std::endian::native == std::endian::little)
      at += static_cast<std::size_t>(std::countr_zero(found)) / 8;
    break;
  }
  return at;
}

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_TEXT_BYTE_RUNS_H_
