// Hardware paths of the CRCs. A path maps a state and the bytes that follow it to the new state
// (crc_polynomial.h). Each function of the first block returns its path, or null if this processor
// or build architecture does not support it.
#ifndef PENSTOCK_BASE_CRC_CRC_HARDWARE_H_
#define PENSTOCK_BASE_CRC_CRC_HARDWARE_H_

#include <cstdint>

#include "penstock/base/bytes.h"

// Whether this compiler has the intrinsics of ARMv8 in functions for one target: GCC, and clang
// from version 16 on.
#if defined(__aarch64__) && defined(__AARCH64EL__) && defined(__linux__) && \
    (!defined(__clang__) || __clang_major__ >= 16)
#define PENSTOCK_CRC_ARM64 1
#endif

namespace penstock::internal {

using CrcPath32 = std::uint32_t (*)(std::uint32_t state, ByteView bytes);
using CrcPath64 = std::uint64_t (*)(std::uint64_t state, ByteView bytes);

CrcPath32 Crc32InstructionPath();   // ARMv8's crc32 instructions, three blocks at a time
CrcPath32 Crc32cInstructionPath();  // those, or the crc32 instruction of SSE4.2
CrcPath32 Crc32Fold128Path();       // PCLMULQDQ or PMULL
CrcPath32 Crc32cFold128Path();
CrcPath64 Crc64NvmeFold128Path();
CrcPath32 Crc32Fold256Path();  // VPCLMULQDQ with AVX2
CrcPath32 Crc32cFold256Path();
CrcPath64 Crc64NvmeFold256Path();
CrcPath32 Crc32Fold512Path();  // VPCLMULQDQ with AVX-512
CrcPath32 Crc32cFold512Path();
CrcPath64 Crc64NvmeFold512Path();

#if defined(__x86_64__)
// The narrow paths, which the wide paths call for the remaining bytes. Call them only on processors
// that support them.
std::uint32_t UpdateCrc32cByInstruction(std::uint32_t state, ByteView bytes);
std::uint32_t UpdateCrc32Fold128(std::uint32_t state, ByteView bytes);
std::uint64_t UpdateCrc64NvmeFold128(std::uint64_t state, ByteView bytes);
#endif

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_CRC_CRC_HARDWARE_H_
