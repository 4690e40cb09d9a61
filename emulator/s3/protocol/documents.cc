#include "emulator/s3/protocol/documents.h"

#include <chrono>

#include "base/dates.h"
#include "base/text/utf8.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Returns the encoding in the XML declaration, "UTF-8" if there is none, and empty if the
// declaration is malformed.
std::string DeclaredEncoding(std::string_view text) {
  text = TrimXml(text);
  if (!text.starts_with("<?xml")) return "UTF-8";
  const std::string_view declaration = text.substr(0, text.find("?>"));
  const auto at = declaration.find("encoding");
  if (at == std::string_view::npos) return "UTF-8";
  std::string_view value = TrimXml(declaration.substr(at + std::string_view("encoding").size()));
  if (!value.starts_with('=')) return {};
  value = TrimXml(value.substr(1));
  if (!value.starts_with('"') && !value.starts_with('\'')) return {};
  const auto end = value.find(value.front(), 1);
  return end == std::string_view::npos ? std::string() : std::string(value.substr(1, end - 1));
}

// XML 1.0, section 4.3.3: text must be in the declared encoding. ASCII text is also ISO-8859-1.
bool HasDeclaredEncoding(std::string_view text) {
  const std::string name = DeclaredEncoding(text);
  if (EqualsIgnoreCase(name, "utf-8")) return true;
  return (EqualsIgnoreCase(name, "us-ascii") || EqualsIgnoreCase(name, "iso-8859-1")) &&
         IsAscii(text);
}

// XML 1.0, section 2.8: nothing precedes the declaration.
bool HasSpaceBeforeDeclaration(std::string_view text) {
  return !text.starts_with('<') && TrimXml(text).starts_with("<?xml");
}

}  // namespace

Result<XmlDocument> ParseRequestDocument(std::string_view text) {
  if (HasSpaceBeforeDeclaration(text) || !HasDeclaredEncoding(text)) return MalformedXml();
  auto document = XmlDocument::Parse(text, XmlCharacters::kXml10);
  if (!document.ok()) return MalformedXml();
  return document;
}

std::string Quoted(std::string_view etag) {
  std::string out;
  out.reserve(etag.size() + 2);
  out += '"';
  out += etag;
  out += '"';
  return out;
}

std::string XmlDate(WallTime time) {
  return FormatIso8601(std::chrono::floor<std::chrono::seconds>(time));
}

void WriteOwner(XmlWriter& xml, std::string_view element, std::string_view owner_id) {
  xml.Open(element);
  xml.Element("ID", owner_id);
  xml.Close(element);
}

void WriteFlag(XmlWriter& xml, std::string_view element, bool value) {
  xml.Element(element, value ? "true" : "false");
}

void WriteNumber(XmlWriter& xml, std::string_view element, std::uint64_t value) {
  xml.Element(element, std::to_string(value));
}

}  // namespace penstock::emulator::s3
