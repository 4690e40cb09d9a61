#include "base/text/json_text.h"

#include <cstddef>
#include <cstdint>

namespace penstock::internal {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

bool IsPlain(std::uint8_t c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

// Returns the length in bytes of the UTF-8 character at the start of `text`, or 0 if there is none.
// RFC 3629 section 4: no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [text](std::size_t i) -> std::uint8_t {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0;
  };
  const auto continues = [byte](std::size_t i, std::uint8_t low = 0x80, std::uint8_t high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = first == 0xE0   ? continues(1, 0xA0)
                        : first == 0xED ? continues(1, 0x80, 0x9F)
                                        : continues(1);
    return second && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = first == 0xF0   ? continues(1, 0x90)
                        : first == 0xF4 ? continues(1, 0x80, 0x8F)
                                        : continues(1);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void AppendAsciiEscape(std::string& out, char c) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  const auto number = static_cast<std::uint8_t>(c);
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: out.append("\\u00") += kHexDigits[number >> 4]; out += kHexDigits[number & 15];
  }
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && IsPlain(static_cast<std::uint8_t>(text[end]))) ++end;
    out.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    const std::size_t length = CharacterLength(text.substr(at));
    if (length == 1) {
      AppendAsciiEscape(out, text[at]);
    } else if (length == 0) {
      out.append(kReplacementCharacter);
    } else {
      out.append(text, at, length);
    }
    at += length == 0 ? 1 : length;
  }
  out += '"';
}

}  // namespace penstock::internal
