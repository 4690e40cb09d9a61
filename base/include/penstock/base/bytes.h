// Views of raw bytes and the two casts everybody needs.
#ifndef PENSTOCK_BASE_BYTES_H_
#define PENSTOCK_BASE_BYTES_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace penstock {

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

// The same memory, read as bytes. The view lives as long as the text does.
inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// The same memory, read as characters.
inline std::string_view AsText(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_BYTES_H_
