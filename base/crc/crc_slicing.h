// CRC by tables, eight bytes per step (slicing-by-8): the portable path, and the tail of every
// other path.
#ifndef PENSTOCK_BASE_CRC_CRC_SLICING_H_
#define PENSTOCK_BASE_CRC_CRC_SLICING_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/crc/crc_polynomial.h"
#include "penstock/base/bytes.h"

namespace penstock::internal {

template <class Kind>
using CrcSlices = std::array<std::array<typename Kind::Word, 256>, 8>;

// [k][b] is the state after byte b and k zero bytes, from state 0.
template <class Kind>
constexpr CrcSlices<Kind> MakeCrcSlices() {
  CrcSlices<Kind> slices{};
  for (std::size_t b = 0; b < 256; ++b) {
    auto state = static_cast<typename Kind::Word>(b);
    for (int bit = 0; bit < 8; ++bit) state = CrcTimesX<Kind>(state);
    slices[0][b] = state;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const auto state = slices[k - 1][b];
      slices[k][b] = (state >> 8) ^ slices[0][state & 0xFF];
    }
  }
  return slices;
}

template <class Kind>
inline constexpr CrcSlices<Kind> kCrcSlices = MakeCrcSlices<Kind>();

// Loads eight bytes as a little-endian word on any machine.
inline std::uint64_t LoadLittleEndian(const std::byte* from) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, from, sizeof(word));
    return word;
  }
  for (unsigned int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return word;
}

template <class Kind>
typename Kind::Word UpdateCrcBySlices(typename Kind::Word state, ByteView bytes) {
  const CrcSlices<Kind>& slices = kCrcSlices<Kind>;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint64_t word = LoadLittleEndian(at) ^ state;
    state = slices[7][word & 0xFF] ^ slices[6][word >> 8 & 0xFF] ^ slices[5][word >> 16 & 0xFF] ^
            slices[4][word >> 24 & 0xFF] ^ slices[3][word >> 32 & 0xFF] ^
            slices[2][word >> 40 & 0xFF] ^ slices[1][word >> 48 & 0xFF] ^ slices[0][word >> 56];
  }
  for (; left > 0; --left, ++at)
    state = (state >> 8) ^ slices[0][(state ^ std::to_integer<unsigned int>(*at)) & 0xFF];
  return state;
}

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_CRC_CRC_SLICING_H_
