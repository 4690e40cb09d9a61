#include "base/crc/crc.h"
#include "base/crc/crc_polynomial.h"

namespace penstock {
namespace {

// Appending bytes multiplies the preceding CRC by x^(8 * length). The complements at both ends of a
// CRC cancel out.
template <class Kind>
typename Kind::Word Combine(typename Kind::Word first, typename Kind::Word second,
                            std::uint64_t second_length) {
  for (const typename Kind::Word power : internal::kCrcBytePowers<Kind>) {
    if (second_length == 0) break;
    if ((second_length & 1) != 0) first = internal::CrcMultiply<Kind>(first, power);
    second_length >>= 1;
  }
  return first ^ second;
}

}  // namespace

std::uint32_t CombineCrc32(std::uint32_t first, std::uint32_t second, std::uint64_t second_length) {
  return Combine<internal::Crc32Kind>(first, second, second_length);
}

std::uint32_t CombineCrc32c(std::uint32_t first, std::uint32_t second,
                            std::uint64_t second_length) {
  return Combine<internal::Crc32cKind>(first, second, second_length);
}

std::uint64_t CombineCrc64Nvme(std::uint64_t first, std::uint64_t second,
                               std::uint64_t second_length) {
  return Combine<internal::Crc64NvmeKind>(first, second, second_length);
}

}  // namespace penstock
