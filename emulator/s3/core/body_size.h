// The size of a response body.
#ifndef PENSTOCK_EMULATOR_S3_CORE_BODY_SIZE_H_
#define PENSTOCK_EMULATOR_S3_CORE_BODY_SIZE_H_

#include <cstdint>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// Returns the size of the body itself, not the size that the headers declare. Inline, because the
// HTTP layer does not link this module.
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
