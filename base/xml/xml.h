// XML tokens: reading a document into a tree and writing escaped elements. Shapes of S3 documents
// are not here.
#ifndef PENSTOCK_BASE_XML_XML_H_
#define PENSTOCK_BASE_XML_XML_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock {

// One element of a parsed document. A light handle; valid as long as its XmlDocument. An absent
// element is a valid handle that is false, has no children and empty text.
class XmlElement {
 public:
  XmlElement() = default;
  explicit operator bool() const;
  std::string_view name() const;  // without namespace prefix
  std::string text() const;       // all direct character data, entities resolved, not trimmed
  XmlElement Child(std::string_view name) const;  // first child element of that local name
  std::vector<XmlElement> Children(std::string_view name) const;
  std::vector<XmlElement> Children() const;
  std::optional<std::string> Attribute(std::string_view name) const;

 private:
  friend class XmlDocument;
  explicit XmlElement(void* node) : node_(node) {}
  void* node_ = nullptr;
};

// Which characters a document may hold.
enum class XmlCharacters {
  // references to characters that XML lacks (&#x1;, &#xffff;) are read, because S3 writes keys with
  // them
  kAny,
  kXml10,  // what XML 1.0 has, raw and as references, in UTF-8
};

// Parses a whole document. Namespaces are ignored. A document type declaration, and so every entity
// of its own, is refused.
class XmlDocument {
 public:
  // kInvalidArgument (code MalformedXML) naming the byte offset when the text is not well-formed or
  // has no root. Throws std::bad_alloc.
  static Result<XmlDocument> Parse(std::string_view text,
                                   XmlCharacters characters = XmlCharacters::kAny);
  XmlDocument(XmlDocument&&) noexcept;
  XmlDocument& operator=(XmlDocument&&) noexcept;
  ~XmlDocument();
  XmlElement root() const;

 private:
  struct Impl;
  explicit XmlDocument(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Appends text with & < > " escaped (quote as &quot;), and control characters, U+FFFE and U+FFFF as
// character references, as S3 does: those that XML 1.0 lacks make a document that strict parsers
// refuse. The text must be UTF-8.
void AppendXmlEscaped(std::string& out, std::string_view text);

// Writes a document by appending to one string. No indentation.
//   XmlWriter xml; xml.Open("A", "xmlns=\"...\""); xml.Element("B", "text"); xml.Close("A");
//   xml.Take();
class XmlWriter {
 public:
  XmlWriter();  // starts with <?xml version="1.0" encoding="UTF-8"?>\n
  void Open(std::string_view name, std::string_view raw_attributes = {});
  void Close(std::string_view name);
  // <name>escaped</name>; <name></name> when empty
  void Element(std::string_view name, std::string_view text);
  void Empty(std::string_view name, std::string_view raw_attributes = {});  // <name/>
  std::string Take();

 private:
  std::string out_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_XML_XML_H_
