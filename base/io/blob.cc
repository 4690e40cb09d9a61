#include "base/io/blob.h"

#include <algorithm>

namespace penstock {

std::uint64_t Content::size() const {
  std::uint64_t total = 0;
  for (const ContentSlice& slice : slices) total += slice.range.size();
  return total;
}

Content Content::Sub(ByteRange range) const {
  Content sub;
  std::uint64_t at = 0;  // offset of the slice in the content
  for (const ContentSlice& slice : slices) {
    const std::uint64_t begin = std::max(range.begin, at);
    const std::uint64_t end = std::min(range.end, at + slice.range.size());
    if (begin < end) {
      sub.slices.push_back(
          {slice.blob, {slice.range.begin + (begin - at), slice.range.begin + (end - at)}});
    }
    at += slice.range.size();
    if (at >= range.end) break;
  }
  return sub;
}

}  // namespace penstock
