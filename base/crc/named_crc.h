// The CRCs that S3 stores with objects, by name, and an expected value in its header form.
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

// The CRC that the received bytes must have.
struct ExpectedCrc {
  Crc crc = Crc::kNone;
  std::string expected;  // base64 of the big-endian value
};

// Returns the first of "crc64nvme", "crc32c" and "crc32" in `checksums` (name and value). kNone if
// there is none.
ExpectedCrc FindCrc(const std::vector<std::pair<std::string, std::string>>& checksums);

// Returns the CRC of the preceding bytes, `previous` (0 at the start), followed by `bytes`. 0 for
// kNone.
std::uint64_t UpdateCrc(Crc crc, ByteView bytes, std::uint64_t previous);
// Returns the CRC of A followed by B, given both CRCs and the length of B in bytes. 0 for kNone.
std::uint64_t CombineCrc(Crc crc, std::uint64_t first, std::uint64_t second,
                         std::uint64_t second_length);
// Returns the big-endian value as base64. Empty for kNone.
std::string CrcText(Crc crc, std::uint64_t value);
// Returns kDataLoss with both values in the message if they differ. Ok for kNone.
Result<void> CompareCrc(const ExpectedCrc& expected, std::uint64_t value);

}  // namespace penstock

#endif  // PENSTOCK_BASE_CRC_NAMED_CRC_H_
