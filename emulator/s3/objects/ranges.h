// The Range header of reads and the stricter one of part copies (spec/protocol.md §2.6, §2.10;
// spec/emulator.md appendix A). Pure.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_RANGES_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_RANGES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::s3 {

struct RangeChoice {
  bool partial = false;  // false: the header says nothing usable, answer 200 with the whole object
  ByteRange range;       // what to send
};
// InvalidRange when the header is well-formed and no byte of the object fits.
Result<RangeChoice> ChooseRange(std::string_view header, std::uint64_t size);

// "bytes=a-b" inside the source, or S3's refusal.
Result<ByteRange> ParseCopyRange(std::string_view header, std::uint64_t source_size);

// "bytes 0-8/10". `range` is not empty.
std::string ContentRange(ByteRange range, std::uint64_t size);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_RANGES_H_
