// Checks that pugixml does not make: characters, references and document types. For xml.cc and
// xml_reader.cc.
#ifndef PENSTOCK_BASE_XML_XML_SCAN_H_
#define PENSTOCK_BASE_XML_XML_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::internal {

struct XmlFault {
  std::size_t offset;       // offset of the first byte
  std::string_view reason;  // static storage
};

// Returns the first raw control character, malformed or unknown reference, or document type
// declaration of `text`, or nullopt. References to control characters (&#x1;) are accepted, because
// S3 writes keys with them; &#0; is not.
std::optional<XmlFault> FindXmlFault(std::string_view text);

// Returns the first character that XML 1.0 does not allow, raw or as a reference, or the first byte
// that is not UTF-8. Nullopt if there is none. `text` must have no other fault.
std::optional<XmlFault> FindForeignCharacter(std::string_view text);

// Returns the first character of `text` that XML 1.0 does not allow, or nullopt. `text` is UTF-8
// without markup: '&' and '<' stand for themselves.
std::optional<std::uint32_t> FindForeignCharacterInText(std::string_view text);

// Appends the character of the reference at the start of `text`. Returns the length of the
// reference in bytes, or 0 if there is none.
std::size_t AppendReference(std::string& out, std::string_view text);

// Returns kInvalidArgument with the code MalformedXML.
Error MalformedXml(const XmlFault& fault);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_XML_XML_SCAN_H_
