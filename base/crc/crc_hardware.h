// The hardware paths of the CRCs. Each function of the first block returns its path, or null where
// this processor (or this build's architecture) lacks it. A path maps the state before some bytes
// to the state after them (crc_polynomial.h).
#ifndef PENSTOCK_BASE_CRC_CRC_HARDWARE_H_
#define PENSTOCK_BASE_CRC_CRC_HARDWARE_H_

#include <cstdint>

#include "penstock/base/bytes.h"

namespace penstock::internal {

using CrcPath32 = std::uint32_t (*)(std::uint32_t state, ByteView bytes);
using CrcPath64 = std::uint64_t (*)(std::uint64_t state, ByteView bytes);

CrcPath32 Crc32cSse42Path();   // the crc32 instruction, three streams at a time
CrcPath32 Crc32Fold128Path();  // PCLMULQDQ
CrcPath64 Crc64NvmeFold128Path();
CrcPath32 Crc32Fold256Path();  // VPCLMULQDQ with AVX2
CrcPath32 Crc32cFold256Path();
CrcPath64 Crc64NvmeFold256Path();
CrcPath32 Crc32Fold512Path();  // VPCLMULQDQ with AVX-512
CrcPath32 Crc32cFold512Path();
CrcPath64 Crc64NvmeFold512Path();

#if defined(__x86_64__)
// The narrow paths themselves, for what the wide ones leave over. Only for processors that have
// them.
std::uint32_t UpdateCrc32cSse42(std::uint32_t state, ByteView bytes);
std::uint32_t UpdateCrc32Fold128(std::uint32_t state, ByteView bytes);
std::uint64_t UpdateCrc64NvmeFold128(std::uint64_t state, ByteView bytes);
#endif

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_CRC_CRC_HARDWARE_H_
