// The CRCs that objects are stored with, by name, and one expected value as the text it is sent in.
#ifndef PENSTOCK_BASE_CRC_NAMED_CRC_H_
#define PENSTOCK_BASE_CRC_NAMED_CRC_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock {

enum class Crc { kNone, kCrc64Nvme, kCrc32c, kCrc32 };

// What all the bytes must amount to.
struct ExpectedCrc {
  Crc crc = Crc::kNone;
  std::string expected;  // base64 of the big-endian value
};

// The first of "crc64nvme", "crc32c" and "crc32" among names and values; kNone when none of them is
// there.
ExpectedCrc FindCrc(const std::vector<std::pair<std::string, std::string>>& checksums);

// The CRC of what came before, `previous` (0 at the start), and `bytes`. 0 for kNone.
std::uint64_t UpdateCrc(Crc crc, ByteView bytes, std::uint64_t previous);
// The CRC of A followed by B, from those of A and B and B's length in bytes. 0 for kNone.
std::uint64_t CombineCrc(Crc crc, std::uint64_t first, std::uint64_t second,
                         std::uint64_t second_length);
// Base64 of the big-endian value. Empty for kNone.
std::string CrcText(Crc crc, std::uint64_t value);
// kDataLoss naming both values when they differ. Ok for kNone.
Result<void> CompareCrc(const ExpectedCrc& expected, std::uint64_t value);

}  // namespace penstock

#endif  // PENSTOCK_BASE_CRC_NAMED_CRC_H_
