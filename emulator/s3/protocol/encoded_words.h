// Header values as S3 handles them: encoded words (RFC 2047) in user metadata, and ISO-8859-1.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::emulator::s3 {

// Normalises a metadata value when it is written. If all encoded words decode to ASCII, they are
// replaced with their text, which is encoded again if it has control characters other than tabs;
// otherwise the value is unchanged. Non-ASCII bytes are read as ISO-8859-1 and encoded as
// "=?UTF-8?B?...?=" (Amazon S3 User Guide, "Working with object metadata").
std::string NormaliseMetadataValue(std::string_view value);

// Returns "=?UTF-8?B?...?=" with the text.
std::string Base64Word(std::string_view utf8);

// Converts UTF-8 text, such as a form field, to a header value. Text that has other characters than
// printable ASCII and tabs becomes one encoded word: "Q" if most characters are ASCII, otherwise
// "B", as S3 chooses. ASCII with control characters becomes "B".
std::string EncodeMetadataText(std::string_view utf8);

// Returns the size of a stored value for S3's limit: its bytes with all encoded words decoded.
std::size_t DecodedBytes(std::string_view stored);

// True for C0 control characters except tab, and for DEL: no header value may contain them.
bool HasControlCharacter(std::string_view text);

struct Latin1Text {
  std::string text;
  bool exact = true;  // False: `text` has spaces for characters that ISO-8859-1 lacks.
};
Latin1Text Utf8ToLatin1(std::string_view utf8);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_ENCODED_WORDS_H_
