// CRC-32, CRC-32C and CRC-64/NVME. The hardware path is chosen at run time. CRCs of adjacent pieces
// can be combined.
#ifndef PENSTOCK_BASE_CRC_CRC_H_
#define PENSTOCK_BASE_CRC_CRC_H_

#include <cstdint>

#include "penstock/base/bytes.h"

namespace penstock {

// Each function takes the CRC of the preceding bytes (0 at the start) and returns the CRC including
// `bytes`. Values are finished CRCs: for "123456789", Crc32 is 0xCBF43926, Crc32c 0xE3069283 and
// Crc64Nvme 0xAE8B14860A799888.
std::uint32_t Crc32(ByteView bytes, std::uint32_t previous = 0);
std::uint32_t Crc32c(ByteView bytes, std::uint32_t previous = 0);
std::uint64_t Crc64Nvme(ByteView bytes, std::uint64_t previous = 0);

// Returns the CRC of A followed by B, given crc(A), crc(B) and the length of B in bytes. O(log
// length).
std::uint32_t CombineCrc32(std::uint32_t first, std::uint32_t second, std::uint64_t second_length);
std::uint32_t CombineCrc32c(std::uint32_t first, std::uint32_t second, std::uint64_t second_length);
std::uint64_t CombineCrc64Nvme(std::uint64_t first, std::uint64_t second,
                               std::uint64_t second_length);

namespace internal {
// The portable table paths, for tests that compare the hardware paths with them.
std::uint32_t Crc32Portable(ByteView bytes, std::uint32_t previous);
std::uint32_t Crc32cPortable(ByteView bytes, std::uint32_t previous);
std::uint64_t Crc64NvmePortable(ByteView bytes, std::uint64_t previous);
}  // namespace internal

}  // namespace penstock

#endif  // PENSTOCK_BASE_CRC_CRC_H_
