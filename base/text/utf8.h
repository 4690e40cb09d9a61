// UTF-8 (RFC 3629): validation, and replacement of ill-formed bytes for display.
#ifndef PENSTOCK_BASE_TEXT_UTF8_H_
#define PENSTOCK_BASE_TEXT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

bool IsAscii(std::string_view text);

// Returns the offset of the first byte that is not part of a valid character, or npos. Overlong
// forms, surrogates and code points above U+10FFFF are invalid.
std::size_t FindIllFormedUtf8(std::string_view text);
bool IsValidUtf8(std::string_view text);

// Returns `text` with U+FFFD instead of every byte that is not part of a valid character. For
// display only: the original bytes are lost.
std::string ReplaceIllFormedUtf8(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_TEXT_UTF8_H_
