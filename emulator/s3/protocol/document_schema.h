// XML bodies of requests as data: a schema per document, and a function that checks a document
// against it.
//
// S3 refuses every document that does not match its schema with MalformedXML, and returns
// configurations in the order of the schema. configuration_checks.h checks what a schema cannot
// express: contradictions, and limits with their own error codes.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENT_SCHEMA_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENT_SCHEMA_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/xml/xml.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

enum class Occurs : std::uint8_t { kOnce, kAtMostOnce, kOnceOrMore, kAnyNumber };

enum class FieldType : std::uint8_t {
  kText,
  kChoice,          // One of `choices`.
  kInteger,         // Decimal, with an optional minus sign; 64 bits.
  kFlag,            // true or false in any case; stored in lower case.
  kDate,            // ISO 8601.
  kGroup,           // Child elements: `fields`.
  kGrantee,         // A group whose xsi:type attribute is one of `choices`.
  kNotImplemented,  // An element of S3 that the emulator refuses with NotImplemented.
};

// One element of a document, identified by its local name.
struct Field {
  std::string_view name;
  Occurs occurs = Occurs::kOnce;
  FieldType type = FieldType::kText;
  std::span<const Field> fields = {};
  std::string_view choices = {};  // Separated by one space.
};

// An element of a checked document: children in the order of the schema, text as it will be
// returned.
struct Element {
  std::string name;
  std::string text;
  std::string attributes;  // Raw, for the writer.
  std::vector<Element> children;

  const Element* Find(std::string_view child) const;  // The first child of that name, or null.
  Element* Find(std::string_view child);
  bool Has(std::string_view child) const { return Find(child) != nullptr; }
  // Returns the text of the first such child, or empty.
  std::string_view TextOf(std::string_view child) const;
  std::vector<const Element*> All(std::string_view child) const;
};

// Returns MalformedXML unless `text` is one document with the root `schema`. Refuses unknown
// elements, repeated elements where the schema allows one, and default namespaces other than S3's.
// An absent namespace is accepted; prefixes are ignored.
Result<Element> ReadBySchema(std::string_view text, const Field& schema);

// Removes the white space of XML (space, tab, CR, LF) at both ends.
std::string_view TrimXml(std::string_view text);

inline constexpr std::string_view kXmlProlog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

// Writes a document with S3's namespace on its root. Prolog::kNo is for a part of another document.
enum class Prolog : std::uint8_t { kYes, kNo };
std::string WriteDocument(const Element& root, Prolog prolog = Prolog::kYes);
// Appends an element and its content.
void WriteElement(std::string& out, const Element& element, std::string_view extra_attributes = {});

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENT_SCHEMA_H_
