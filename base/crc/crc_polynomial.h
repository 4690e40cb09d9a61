// The three CRCs as polynomials over GF(2), and the arithmetic for tables, folding constants and
// combining.
//
// All are reflected: the lowest bit of a word is the coefficient of the highest power, the highest
// bit is x^0. The *state* of a CRC is the running value between bytes. The finished CRC is its
// complement, and the initial state is the complement of 0.
#ifndef PENSTOCK_BASE_CRC_CRC_POLYNOMIAL_H_
#define PENSTOCK_BASE_CRC_CRC_POLYNOMIAL_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::internal {

// kPolynomial omits its highest power, as usual.
struct Crc32Kind {
  using Word = std::uint32_t;
  static constexpr Word kPolynomial = 0xEDB88320;
};
struct Crc32cKind {
  using Word = std::uint32_t;
  static constexpr Word kPolynomial = 0x82F63B78;
};
struct Crc64NvmeKind {
  using Word = std::uint64_t;
  static constexpr Word kPolynomial = 0x9A6C9329AC4BC9B5;
};

template <class Kind>
inline constexpr int kCrcBits = static_cast<int>(sizeof(typename Kind::Word) * 8);

template <class Kind>
// x^0.
inline constexpr typename Kind::Word kCrcOne = typename Kind::Word{1} << (kCrcBits<Kind> - 1);

template <class Kind>
constexpr typename Kind::Word CrcTimesX(typename Kind::Word a) {
  return (a >> 1) ^ ((a & 1) != 0 ? Kind::kPolynomial : 0);
}

// Returns a times b modulo the polynomial.
template <class Kind>
constexpr typename Kind::Word CrcMultiply(typename Kind::Word a, typename Kind::Word b) {
  typename Kind::Word product = 0;
  for (; b != 0; b <<= 1) {
    if ((b & kCrcOne<Kind>) != 0) product ^= a;
    a = CrcTimesX<Kind>(a);
  }
  return product;
}

// Returns x^exponent modulo the polynomial.
template <class Kind>
constexpr typename Kind::Word CrcPowerOfX(std::uint64_t exponent) {
  typename Kind::Word power = kCrcOne<Kind>;
  typename Kind::Word square = CrcTimesX<Kind>(kCrcOne<Kind>);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = CrcMultiply<Kind>(power, square);
    square = CrcMultiply<Kind>(square, square);
  }
  return power;
}

// [k] is x^(8 * 2^k): the factor for 2^k appended bytes.
template <class Kind>
constexpr std::array<typename Kind::Word, 64> MakeCrcBytePowers() {
  std::array<typename Kind::Word, 64> powers{};
  powers[0] = CrcPowerOfX<Kind>(8);
  for (std::size_t k = 1; k < powers.size(); ++k)
    powers[k] = CrcMultiply<Kind>(powers[k - 1], powers[k - 1]);
  return powers;
}

template <class Kind>
inline constexpr std::array<typename Kind::Word, 64> kCrcBytePowers = MakeCrcBytePowers<Kind>();

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_CRC_CRC_POLYNOMIAL_H_
