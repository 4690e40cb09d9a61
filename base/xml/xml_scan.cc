#include "base/xml/xml_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/text/utf8.h"

namespace penstock::internal {
namespace {

constexpr std::size_t kMaxReferenceBytes = 16;  // "&#x10FFFF;" and a few leading zeros

// '<', '&' and the control characters that XML forbids. All other bytes are skipped.
constexpr std::array<bool, 256> MakeStops() {
  std::array<bool, 256> stops{};
  for (std::size_t c = 0; c < 0x20; ++c) stops[c] = c != '\t' && c != '\n' && c != '\r';
  stops['<'] = true;
  stops['&'] = true;
  return stops;
}
constexpr std::array<bool, 256> kStops = MakeStops();

// Returns the code point that `digits` name; 0, which is not a character, if they name none.
std::uint32_t CharacterNumber(std::string_view digits, int base) {
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, base);
  const bool surrogate = number >= 0xD800 && number <= 0xDFFF;
  return error == std::errc() && stopped == end && number <= 0x10FFFF && !surrogate ? number : 0;
}

struct Reference {
  std::size_t length = 0;  // in bytes; 0: not a reference
  std::uint32_t character = 0;
};

// Returns the reference at the start of `text`.
Reference FindReference(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kNames[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"apos", '\''}};
  if (text.starts_with("&quot;")) return {6, '"'};  // around every ETag of a listing
  const std::size_t semicolon = text.substr(0, kMaxReferenceBytes).find(';');
  if (semicolon == std::string_view::npos || text.front() != '&') return {};
  const std::string_view name = text.substr(1, semicolon - 1);
  std::uint32_t character = 0;
  if (name.starts_with("#x")) {
    character = CharacterNumber(name.substr(2), 16);
  } else if (name.starts_with("#")) {
    character = CharacterNumber(name.substr(1), 10);
  } else {
    for (const auto& [known, stands_for] : kNames) {
      if (name == known) character = static_cast<std::uint32_t>(stands_for);
    }
  }
  return character == 0 ? Reference{} : Reference{semicolon + 1, character};
}

void AppendUtf8(std::string& out, std::uint32_t character) {
  const auto continuation = [&](int shift) {
    return static_cast<char>(0x80 | ((character >> shift) & 0x3F));
  };
  if (character < 0x80) {
    out.push_back(static_cast<char>(character));
  } else if (character < 0x800) {
    out.append({static_cast<char>(0xC0 | (character >> 6)), continuation(0)});
  } else if (character < 0x10000) {
    out.append({static_cast<char>(0xE0 | (character >> 12)), continuation(6), continuation(0)});
  } else {
    out.append({static_cast<char>(0xF0 | (character >> 18)), continuation(12), continuation(6),
                continuation(0)});
  }
}

// Returns the number of bytes up to the end of `terminator`. The parser reports a section that does
// not end.
std::size_t SectionLength(std::string_view text, std::size_t opening, std::string_view terminator) {
  const std::size_t at = text.find(terminator, opening);
  return at == std::string_view::npos ? text.size() : at + terminator.size();
}

// Returns the number of bytes to skip at a '<': a whole section in which '&' has no meaning, or the
// '<' only.
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

// The code points beyond the control characters that XML 1.0 does not allow, and their UTF-8.
struct Noncharacter {
  std::uint32_t code_point;
  std::string_view utf8;
};
constexpr Noncharacter kNoncharacters[] = {{0xFFFE, "\xEF\xBF\xBE"}, {0xFFFF, "\xEF\xBF\xBF"}};

// XML 1.0 section 2.2, for the code points that a reference can have.
bool IsXml10(std::uint32_t character) {
  if (character < 0x20) return character == '\t' || character == '\n' || character == '\r';
  return std::none_of(
      std::begin(kNoncharacters), std::end(kNoncharacters),
      [character](const Noncharacter& each) { return each.code_point == character; });
}

constexpr std::string_view kControlCharacter = "a raw control character";
constexpr std::string_view kForeignCharacter = "a character that XML 1.0 does not allow";

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
      if (rest.starts_with("<!DOCTYPE"))
        return XmlFault{at, "a document type declaration, which is not accepted"};
      const std::size_t length = MarkupLength(rest);
      if (const auto control = FindControlCharacter(rest.substr(0, length)))
        return XmlFault{at + *control, kControlCharacter};
      at += length;
    } else if (c == '&') {
      const std::size_t length = FindReference(rest).length;
      if (length == 0) return XmlFault{at, "'&' that does not start a known reference"};
      at += length;
    } else {
      return XmlFault{at, kControlCharacter};
    }
  }
  return std::nullopt;
}

std::optional<XmlFault> FindForeignCharacter(std::string_view text) {
  if (const auto at = FindIllFormedUtf8(text); at != std::string_view::npos)
    return XmlFault{at, "a byte that is not UTF-8"};
  for (const Noncharacter& noncharacter : kNoncharacters) {
    if (const auto at = text.find(noncharacter.utf8); at != std::string_view::npos)
      return XmlFault{at, kForeignCharacter};
  }
  for (std::size_t at = text.find_first_of("&<"); at != std::string_view::npos;
       at = text.find_first_of("&<", at)) {
    const std::string_view rest = text.substr(at);
    if (rest.front() == '<') {
      at += MarkupLength(rest);
      continue;
    }
    const Reference reference = FindReference(rest);
    if (!IsXml10(reference.character)) return XmlFault{at, kForeignCharacter};
    at += reference.length;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> FindForeignCharacterInText(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (byte < 0x20 && !IsXml10(byte)) return byte;
    for (const Noncharacter& noncharacter : kNoncharacters) {
      if (text.substr(at).starts_with(noncharacter.utf8)) return noncharacter.code_point;
    }
  }
  return std::nullopt;
}

std::size_t AppendReference(std::string& out, std::string_view text) {
  const Reference found = FindReference(text);
  if (found.length != 0) AppendUtf8(out, found.character);
  return found.length;
}

Error MalformedXml(const XmlFault& fault) {
  Error error = Error::Make(ErrorKind::kInvalidArgument, "The XML is not well-formed at byte " +
                                                             std::to_string(fault.offset) + ": " +
                                                             std::string(fault.reason) + ".");
  error.code = "MalformedXML";
  return error;
}

}  // namespace penstock::internal
