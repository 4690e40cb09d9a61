// Encoded words (RFC 2047) in user metadata, as S3 handles them.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::emulator::s3 {

struct MetadataValue {
  std::string text;  // What is stored and returned.
  // False: a decoded word contains control characters, so the value must not be sent as a header.
  bool printable = true;
};

// Normalises a metadata value when it is written. If all encoded words decode to ASCII, they are
// replaced with their text; otherwise the value is unchanged. Non-ASCII bytes are read as
// ISO-8859-1 and encoded as "=?UTF-8?B?...?=" (Amazon S3 User Guide, "Working with object
// metadata").
MetadataValue NormaliseMetadataValue(std::string_view value);

// Converts UTF-8 text, such as a form field, to a value that NormaliseMetadataValue leaves
// unchanged. Text that is not printable ASCII becomes one encoded word: "Q" if most characters are
// ASCII, otherwise "B", as S3 chooses.
std::string EncodeMetadataText(std::string_view utf8);

// Returns the size of a stored value for S3's limit: its bytes with all encoded words decoded.
std::size_t DecodedBytes(std::string_view stored);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_
