// Hex and base64. Percent-encoding is not here, because the client and the emulator have their own
// implementations.
#ifndef PENSTOCK_BASE_ENCODING_H_
#define PENSTOCK_BASE_ENCODING_H_

#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/bytes.h"

namespace penstock {

std::string HexEncode(ByteView bytes);  // lower-case
// Returns raw bytes, or nullopt if malformed. Accepts upper and lower case.
std::optional<std::string> HexDecode(std::string_view text);

std::string Base64Encode(ByteView bytes);  // standard alphabet, padded
// Returns raw bytes, or nullopt unless `text` is padded base64 of the standard alphabet without
// white space.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_ENCODING_H_
