// Parts that S3's XML documents share: namespace, owner, quoted ETag, dates, checksum elements.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENTS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::string_view kXmlNamespace =
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

// Parses a request's document in UTF-8. Returns MalformedXML for characters that XML 1.0 does not
// allow (character references included), and for other declared encodings.
Result<XmlDocument> ParseRequestDocument(std::string_view text);

// Returns the ETag in double quotes.
std::string Quoted(std::string_view etag);
// Formats a time with whole seconds and ".000Z".
std::string XmlDate(WallTime time);
void WriteOwner(XmlWriter& xml, std::string_view element, std::string_view owner_id);
void WriteFlag(XmlWriter& xml, std::string_view element, bool value);
void WriteNumber(XmlWriter& xml, std::string_view element, std::uint64_t value);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENTS_H_
