#include "base/text/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock {
namespace {

std::uint8_t ByteAt(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

bool Within(std::uint8_t byte, std::uint8_t first, std::uint8_t last) {
  return byte >= first && byte <= last;
}

bool IsContinuation(std::uint8_t byte) { return Within(byte, 0x80, 0xBF); }

// Returns the length in bytes of the character at `at`, or 0 if there is none. RFC 3629 section 4:
// the second byte shows whether a form is overlong, a surrogate or too large.
std::size_t CharacterLength(std::string_view text, std::size_t at) {
  const std::uint8_t lead = ByteAt(text, at);
  if (lead < 0x80) return 1;
  const std::uint8_t second = ByteAt(text, at + 1);
  if (Within(lead, 0xC2, 0xDF)) return IsContinuation(second) ? 2 : 0;
  if (Within(lead, 0xE0, 0xEF)) {
    const bool fits = Within(second, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return fits && IsContinuation(ByteAt(text, at + 2)) ? 3 : 0;
  }
  if (Within(lead, 0xF0, 0xF4)) {
    const bool fits = Within(second, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return fits && IsContinuation(ByteAt(text, at + 2)) && IsContinuation(ByteAt(text, at + 3)) ? 4
                                                                                                : 0;
  }
  return 0;
}

}  // namespace

bool IsAscii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, sizeof word);
    if ((word & kHighBits) != 0) return false;
  }
  for (; i < text.size(); ++i) {
    if (static_cast<std::uint8_t>(text[i]) >= 0x80) return false;
  }
  return true;
}

std::size_t FindIllFormedUtf8(std::string_view text) {
  if (IsAscii(text)) return std::string_view::npos;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = CharacterLength(text, i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

bool IsValidUtf8(std::string_view text) {
  return FindIllFormedUtf8(text) == std::string_view::npos;
}

std::string ReplaceIllFormedUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = CharacterLength(text, i);
    out.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(i, length));
    i += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace penstock
