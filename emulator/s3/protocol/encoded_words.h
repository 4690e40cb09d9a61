// RFC 2047 as S3 applies it to user metadata (spec/protocol.md §0 "Header charset").
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::emulator::s3 {

struct MetadataValue {
  std::string text;  // what is stored and answered
  // false: a decoded word holds control characters, and the value must not leave in a header
  bool printable = true;
};

// Both ways, at the time of writing: encoded words whose text is ASCII are decoded, a value with
// any other stays as it is; bytes beyond ASCII are read as ISO-8859-1, whatever they were meant as,
// and encoded ("=?UTF-8?B?...?="), as AWS's user guide shows.
MetadataValue NormaliseMetadataValue(std::string_view value);

// Text in UTF-8, as a form's fields bring it, in the form that NormaliseMetadataValue leaves as it
// is: one encoded word where it is not printable ASCII, of the encoding ("Q" for text that is
// mostly ASCII, else "B") that S3 chooses.
std::string EncodeMetadataText(std::string_view utf8);

// What S3's limit counts of a stored value: the bytes of its text with every encoded word decoded.
std::size_t DecodedBytes(std::string_view stored);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_
