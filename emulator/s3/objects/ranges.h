// The Range header of reads, and the stricter x-amz-copy-source-range of part copies. Pure.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_RANGES_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_RANGES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::s3 {

struct RangeChoice {
  bool partial = false;  // False: ignore the header and send status 200.
  ByteRange range;       // The bytes to send.
};
// Returns InvalidRange if the header is well-formed but covers no byte of the object.
Result<RangeChoice> ChooseRange(std::string_view header, std::uint64_t size);

// Parses "bytes=a-b" inside the source; otherwise returns S3's error.
Result<ByteRange> ParseCopyRange(std::string_view header, std::uint64_t source_size);

// Formats "bytes 0-8/10". `range` must not be empty.
std::string ContentRange(ByteRange range, std::uint64_t size);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_RANGES_H_
