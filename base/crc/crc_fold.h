// Constants for CRC by carry-less multiplication, used by crc_fold_*.cc.
//
// Folding multiplies a block by x^D modulo the polynomial and adds it to the block D bits further
// on. The CRC stays the same and the message becomes shorter. A 128-bit block as loaded from memory
// is l * x^64 + h, with l its low and h its high 64 bits, both reflected. The product of two
// reflected 64-bit words has 127 bits, so it is one bit too low in 128 bits: it is already
// multiplied by x. So l is multiplied by x^(D+63) and h by x^(D-1).
#ifndef PENSTOCK_BASE_CRC_CRC_FOLD_H_
#define PENSTOCK_BASE_CRC_CRC_FOLD_H_

#include <cstddef>
#include <cstdint>

#include "base/crc/crc_polynomial.h"

namespace penstock::internal {

// Returns x^exponent modulo the polynomial as a reflected 64-bit word, in which the highest bit is
// x^0.
template <class Kind>
constexpr std::uint64_t CrcFoldConstant(std::uint64_t exponent) {
  return std::uint64_t{CrcPowerOfX<Kind>(exponent)} << (64 - kCrcBits<Kind>);
}

// The constants for folding over `distance_bits`.
template <class Kind, std::size_t distance_bits>
struct CrcFold {
  static constexpr std::uint64_t kLow = CrcFoldConstant<Kind>(distance_bits + 63);
  static constexpr std::uint64_t kHigh = CrcFoldConstant<Kind>(distance_bits - 1);
};

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_CRC_CRC_FOLD_H_
