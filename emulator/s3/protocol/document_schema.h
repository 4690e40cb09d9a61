// XML bodies of requests as data: a schema per document, and one function that checks a document
// against it.
//
// S3 refuses a document that does not fit its schema with MalformedXML, whatever is wrong with it,
// and gives configurations back in the schema's order. What a schema cannot say (contradictions,
// limits with their own codes) is for the checks in sub_resource_checks.h.
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
  kChoice,   // one of `choices`
  kInteger,  // decimal, with an optional minus sign, in 64 bits
  kFlag,     // true or false, in any case; kept in lower case
  kDate,     // ISO 8601
  kGroup,    // elements of its own
  kGrantee,  // a group whose xsi:type attribute is one of `choices`
};

// One element of a document, by its local name.
struct Field {
  std::string_view name;
  Occurs occurs = Occurs::kOnce;
  FieldType type = FieldType::kText;
  std::span<const Field> fields = {};
  std::string_view choices = {};  // separated by one space
};

// A checked document in memory: elements in the schema's order, text as it will be given back.
struct Element {
  std::string name;
  std::string text;
  std::string attributes;  // raw, for the writer
  std::vector<Element> children;

  const Element* Find(std::string_view child) const;  // the first, or null
  Element* Find(std::string_view child);
  bool Has(std::string_view child) const { return Find(child) != nullptr; }
  // The text of the first such child; empty when there is none.
  std::string_view TextOf(std::string_view child) const;
  std::vector<const Element*> All(std::string_view child) const;
};

// MalformedXML unless `text` is one document whose root is `schema`. Unknown elements, repeated
// ones where the schema has one, and elements whose default namespace is not S3's are refused. An
// absent namespace is S3's; prefixes are ignored.
Result<Element> ReadBySchema(std::string_view text, const Field& schema);

// Without the white space of XML (space, tab, CR, LF) around it.
std::string_view TrimXml(std::string_view text);

inline constexpr std::string_view kXmlProlog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

// The document with S3's namespace on its root; `prolog` unless it goes into another document.
enum class Prolog : std::uint8_t { kYes, kNo };
std::string WriteDocument(const Element& root, Prolog prolog = Prolog::kYes);
// Appends one element and what it contains.
void WriteElement(std::string& out, const Element& element, std::string_view extra_attributes = {});

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DOCUMENT_SCHEMA_H_
