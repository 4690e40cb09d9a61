// How many bytes the body of an answer has.
#ifndef PENSTOCK_EMULATOR_S3_CORE_BODY_SIZE_H_
#define PENSTOCK_EMULATOR_S3_CORE_BODY_SIZE_H_

#include <cstdint>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// Of the body itself, not of what the headers tell of it. Inline: the wire, which knows messages as
// values, links nothing of this module.
inline std::uint64_t BodySize(const Response& response) {
  if (const auto* const text = std::get_if<std::string>(&response.body)) return text->size();
  std::uint64_t total = 0;
  if (const auto* const content = std::get_if<store::Content>(&response.body)) {
    for (const store::ContentSlice& slice : content->slices) total += slice.range.size();
  }
  return total;
}

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_BODY_SIZE_H_
