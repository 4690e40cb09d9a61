// Hex and base64. Percent-encoding is not here: client and emulator each write their own
// (architecture §3).
#ifndef PENSTOCK_BASE_ENCODING_H_
#define PENSTOCK_BASE_ENCODING_H_

#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/bytes.h"

namespace penstock {

std::string HexEncode(ByteView bytes);  // lower-case
// raw bytes; either case; nullopt when malformed
std::optional<std::string> HexDecode(std::string_view text);

std::string Base64Encode(ByteView bytes);  // standard alphabet, padded
// Raw bytes; nullopt unless `text` is exactly padded base64 of the standard alphabet without white
// space.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_ENCODING_H_
