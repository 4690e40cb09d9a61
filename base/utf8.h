// UTF-8 (RFC 3629): what is, and what to show for what is not.
#ifndef PENSTOCK_BASE_UTF8_H_
#define PENSTOCK_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock {

bool IsAscii(std::string_view text);

// The first byte that belongs to no character (overlong forms, surrogates and numbers beyond
// U+10FFFF are none); npos when all of it is UTF-8.
std::size_t FindIllFormedUtf8(std::string_view text);
bool IsValidUtf8(std::string_view text);

// `text` with U+FFFD in place of every byte that belongs to no character. For showing: what was
// there is lost.
std::string ReplaceIllFormedUtf8(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_UTF8_H_
