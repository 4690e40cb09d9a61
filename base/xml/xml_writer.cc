#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/xml/xml.h"

namespace penstock {
namespace {

constexpr std::array<bool, 256> MakeEscaped() {
  std::array<bool, 256> escaped{};
  for (std::size_t c = 0; c < 0x20; ++c) escaped[c] = true;
  for (const char c : {'&', '<', '>', '"'}) escaped[static_cast<std::size_t>(c)] = true;
  escaped[0xEF] = true;  // first byte of U+FFFE and U+FFFF
  return escaped;
}
constexpr std::array<bool, 256> kEscaped = MakeEscaped();

// Control characters are written as references: parsers read a raw CR as LF, and XML does not allow
// most others.
void AppendEscape(std::string& out, char c) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    default: break;
  }
  constexpr char kHexDigits[] = "0123456789abcdef";
  const auto number = static_cast<std::uint8_t>(c);
  out += "&#x";
  if (number >= 16) out += kHexDigits[number >> 4];
  out += kHexDigits[number & 15];
  out += ';';
}

std::string_view NoncharacterReference(std::string_view character) {
  if (character == "\xEF\xBF\xBE") return "&#xfffe;";
  if (character == "\xEF\xBF\xBF") return "&#xffff;";
  return {};
}

}  // namespace

void AppendXmlEscaped(std::string& out, std::string_view text) {
  std::size_t run = 0;  // start of the text that is not appended yet
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!kEscaped[static_cast<std::uint8_t>(text[i])]) continue;
    if (static_cast<std::uint8_t>(text[i]) != 0xEF) {
      out.append(text, run, i - run);
      AppendEscape(out, text[i]);
    } else if (const std::string_view reference = NoncharacterReference(text.substr(i, 3));
               !reference.empty()) {
      out.append(text, run, i - run).append(reference);
      i += 2;
    } else {
      continue;
    }
    run = i + 1;
  }
  out.append(text, run, text.size() - run);
}

XmlWriter::XmlWriter() : out_("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") {}

void XmlWriter::Open(std::string_view name, std::string_view raw_attributes) {
  out_.append("<").append(name);
  if (!raw_attributes.empty()) out_.append(" ").append(raw_attributes);
  out_.append(">");
}

void XmlWriter::Close(std::string_view name) { out_.append("</").append(name).append(">"); }

void XmlWriter::Element(std::string_view name, std::string_view text) {
  out_.append("<").append(name).append(">");
  AppendXmlEscaped(out_, text);
  Close(name);
}

void XmlWriter::Empty(std::string_view name, std::string_view raw_attributes) {
  out_.append("<").append(name);
  if (!raw_attributes.empty()) out_.append(" ").append(raw_attributes);
  out_.append("/>");
}

std::string XmlWriter::Take() { return std::exchange(out_, {}); }

}  // namespace penstock
