// Constants of CRC by carry-less multiplication. For crc_fold_*.cc.
//
// A message is folded when a block is multiplied by x^D modulo the polynomial and added to the
// block D bits further on: the CRC stays the same and the message is shorter. A block of 128 bits,
// loaded as it lies in memory, is l * x^64 + h, with l its low and h its high 64 bits, both
// reflected. The product of two reflected 64-bit words lies one bit too low in 128 (it has 127),
// that is, it is already multiplied by x. So l takes x^(D+63) and h takes x^(D-1).
#ifndef PENSTOCK_BASE_CRC_CRC_FOLD_H_
#define PENSTOCK_BASE_CRC_CRC_FOLD_H_

#include <cstddef>
#include <cstdint>

#include "base/crc/crc_polynomial.h"

namespace penstock::internal {

// x^exponent modulo the polynomial as a reflected word of 64 bits, in which x^0 is the highest bit.
template <class Kind>
constexpr std::uint64_t CrcFoldConstant(std::uint64_t exponent) {
  return std::uint64_t{CrcPowerOfX<Kind>(exponent)} << (64 - kCrcBits<Kind>);
}

// For folding over a distance.
template <class Kind, std::size_t distance_bits>
struct CrcFold {
  static constexpr std::uint64_t kLow = CrcFoldConstant<Kind>(distance_bits + 63);
  static constexpr std::uint64_t kHigh = CrcFoldConstant<Kind>(distance_bits - 1);
};

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_CRC_CRC_FOLD_H_
