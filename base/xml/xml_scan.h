// The well-formedness that pugixml does not check: characters, references and document types. For
// xml.cc and xml_reader.cc.
#ifndef PENSTOCK_BASE_XML_XML_SCAN_H_
#define PENSTOCK_BASE_XML_XML_SCAN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::internal {

struct XmlFault {
  std::size_t offset;       // of the byte where it starts
  std::string_view reason;  // static text
};

// The first raw control character, malformed or unknown reference, or document type declaration of
// `text`; nullopt when there is none. References to control characters (&#x1;) pass, because S3
// writes keys with them; &#0; does not.
std::optional<XmlFault> FindXmlFault(std::string_view text);

// The first character, raw or as a reference, that XML 1.0 does not have, or byte that is no UTF-8,
// of a `text` without faults; nullopt when there is none.
std::optional<XmlFault> FindForeignCharacter(std::string_view text);

// Appends what the reference that `text` starts with stands for. Returns the reference's bytes, 0
// when it is none.
std::size_t AppendReference(std::string& out, std::string_view text);

// kInvalidArgument, code MalformedXML.
Error MalformedXml(const XmlFault& fault);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_XML_XML_SCAN_H_
