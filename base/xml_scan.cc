#include "base/xml_scan.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace penstock::internal {
namespace {

constexpr std::size_t kMaxReferenceBytes = 16;  // "&#x10FFFF;" and a few leading zeros

// '<', '&' and the control characters XML forbids: everything else is passed over.
constexpr std::array<bool, 256> MakeStops() {
  std::array<bool, 256> stops{};
  for (std::size_t c = 0; c < 0x20; ++c) stops[c] = c != '\t' && c != '\n' && c != '\r';
  stops['<'] = true;
  stops['&'] = true;
  return stops;
}
constexpr std::array<bool, 256> kStops = MakeStops();

bool IsCharacterNumber(std::string_view digits, int base) {
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, base);
  const bool surrogate = number >= 0xD800 && number <= 0xDFFF;
  return error == std::errc() && stopped == end && number != 0 && number <= 0x10FFFF && !surrogate;
}

// The bytes of the reference that `text` starts with, 0 when it is none.
std::size_t ReferenceLength(std::string_view text) {
  const std::size_t semicolon = text.substr(0, kMaxReferenceBytes).find(';');
  if (semicolon == std::string_view::npos) return 0;
  const std::string_view name = text.substr(1, semicolon - 1);
  bool known = name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos";
  if (name.starts_with("#x")) {
    known = IsCharacterNumber(name.substr(2), 16);
  } else if (name.starts_with("#")) {
    known = IsCharacterNumber(name.substr(1), 10);
  }
  return known ? semicolon + 1 : 0;
}

// The bytes until after `terminator`. A section that never ends is left to the parser, which names it.
std::size_t SectionLength(std::string_view text, std::size_t opening, std::string_view terminator) {
  const std::size_t at = text.find(terminator, opening);
  return at == std::string_view::npos ? text.size() : at + terminator.size();
}

// The bytes to pass over at a '<': a whole section in which '&' means nothing, or the '<' alone.
std::size_t MarkupLength(std::string_view text) {
  if (text.starts_with("<!--")) return SectionLength(text, 4, "-->");
  if (text.starts_with("<![CDATA[")) return SectionLength(text, 9, "]]>");
  if (text.starts_with("<?")) return SectionLength(text, 2, "?>");
  return 1;
}

std::optional<std::size_t> FindControlCharacter(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<std::uint8_t>(text[i]);
    if (c < 0x20 && kStops[c]) return i;
  }
  return std::nullopt;
}

constexpr std::string_view kControlCharacter = "a raw control character";

}  // namespace

std::optional<XmlFault> FindXmlFault(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (!kStops[static_cast<std::uint8_t>(c)]) {
      ++at;
      continue;
    }
    const std::string_view rest = text.substr(at);
    if (c == '<') {
      if (rest.starts_with("<!DOCTYPE")) return XmlFault{at, "a document type declaration, which is not accepted"};
      const std::size_t length = MarkupLength(rest);
      if (const auto control = FindControlCharacter(rest.substr(0, length))) return XmlFault{at + *control, kControlCharacter};
      at += length;
    } else if (c == '&') {
      const std::size_t length = ReferenceLength(rest);
      if (length == 0) return XmlFault{at, "'&' that starts no known reference"};
      at += length;
    } else {
      return XmlFault{at, kControlCharacter};
    }
  }
  return std::nullopt;
}

}  // namespace penstock::internal
