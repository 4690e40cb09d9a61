// Views of raw bytes, and casts between bytes and text.
#ifndef PENSTOCK_BASE_BYTES_H_
#define PENSTOCK_BASE_BYTES_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

using ByteView = std::span<const std::byte>;
using MutableByteView = std::span<std::byte>;

// Returns the same memory as bytes. The view is valid as long as the memory of `text`.
inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Returns the same memory as characters.
inline std::string_view AsText(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_BYTES_H_
