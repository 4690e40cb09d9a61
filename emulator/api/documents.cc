#include "emulator/api/documents.h"

#include <chrono>

#include "base/dates.h"
#include "emulator/api/checksums.h"
#include "emulator/api/errors.h"

namespace penstock::emulator::api {

Result<XmlDocument> ParseRequestDocument(std::string_view text) {
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

std::string XmlDate(WallTime time) { return FormatIso8601(std::chrono::floor<std::chrono::seconds>(time)); }

void WriteOwner(XmlWriter& xml, std::string_view element, std::string_view owner_id) {
  xml.Open(element);
  xml.Element("ID", owner_id);
  xml.Close(element);
}

void WriteFlag(XmlWriter& xml, std::string_view element, bool value) { xml.Element(element, value ? "true" : "false"); }

void WriteNumber(XmlWriter& xml, std::string_view element, std::uint64_t value) {
  xml.Element(element, std::to_string(value));
}

void WriteChecksum(XmlWriter& xml, std::string_view algorithm, std::string_view value) {
  if (const ChecksumInfo* info = FindChecksum(algorithm); info != nullptr && !value.empty()) {
    xml.Element(info->element, value);
  }
}

}  // namespace penstock::emulator::api
