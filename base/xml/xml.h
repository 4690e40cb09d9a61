// Generic XML: parsing a document into a tree, and writing escaped elements. Independent of S3's
// documents.
#ifndef PENSTOCK_BASE_XML_XML_H_
#define PENSTOCK_BASE_XML_XML_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock {

// One element of a parsed document. A lightweight handle, valid as long as its XmlDocument. An
// absent element is a valid handle that converts to false and has no children and empty text.
class XmlElement {
 public:
  XmlElement() = default;
  explicit operator bool() const;
  std::string_view name() const;  // without the namespace prefix
  std::string text() const;       // all direct character data; references resolved, not trimmed
  XmlElement Child(std::string_view name) const;  // first child element with this local name
  std::vector<XmlElement> Children(std::string_view name) const;
  std::vector<XmlElement> Children() const;
  std::optional<std::string> Attribute(std::string_view name) const;

 private:
  friend class XmlDocument;
  explicit XmlElement(void* node) : node_(node) {}
  void* node_ = nullptr;
};

// The characters that a document may contain.
enum class XmlCharacters {
  // Accepts references to characters that XML does not allow (&#x1;, &#xffff;), because S3 writes
  // keys with them.
  kAny,
  // The characters of XML 1.0, raw and as references, in UTF-8. Also rejects an element that has an
  // attribute twice.
  kXml10,
};

// A parsed document. Namespaces are ignored. A document type declaration is rejected, so there are
// no custom entities.
class XmlDocument {
 public:
  // Returns kInvalidArgument (code MalformedXML) with the byte offset if the text is not
  // well-formed or has no root. Throws std::bad_alloc.
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

// Appends `text` with & < > " escaped (quote as &quot;). Control characters, U+FFFE and U+FFFF
// become character references, as in S3 responses. XML 1.0 does not allow some of them, so strict
// parsers reject such a document. The text must be UTF-8.
void AppendXmlEscaped(std::string& out, std::string_view text);

// Writes a document into one string. No indentation.
//   XmlWriter xml; xml.Open("A", "xmlns=\"...\""); xml.Element("B", "text"); xml.Close("A");
//   xml.Take();
class XmlWriter {
 public:
  XmlWriter();  // starts with <?xml version="1.0" encoding="UTF-8"?>\n
  void Open(std::string_view name, std::string_view raw_attributes = {});
  void Close(std::string_view name);
  // <name>escaped</name>, or <name></name> if empty.
  void Element(std::string_view name, std::string_view text);
  void Empty(std::string_view name, std::string_view raw_attributes = {});  // <name/>
  std::string Take();

 private:
  std::string out_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_XML_XML_H_
