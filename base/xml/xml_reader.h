// Reads XML from front to back, in place. Builds no tree, and copies text only if references or
// line ends change it. For documents so large that the tree of xml.h is too expensive. Both accept
// the same documents.
#ifndef PENSTOCK_BASE_XML_XML_READER_H_
#define PENSTOCK_BASE_XML_XML_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/xml/xml_scan.h"
#include "penstock/base/result.h"

namespace penstock {

// Walks the elements of one document. After each NextChild, call Text, Skip, or NextChild until it
// returns false, which closes the element:
//
//   XmlReader xml(text);
//   if (xml.Root() == "List") while (xml.NextChild()) if (xml.name() == "Key") Use(xml.Text());
//   else xml.Skip(); PENSTOCK_TRY(xml.Finish());
//
// After a fault there are no more children and all text is empty. Results are valid only once
// Finish() returns ok, because the document may have been read partially. Namespaces are ignored.
// Document types are rejected, so the only entities are the five of XML. Elements nested deeper
// than kMaxDepth are rejected.
class XmlReader {
 public:
  static constexpr std::size_t kMaxDepth = 32;

  // `text` must outlive the reader and every view that it returns.
  explicit XmlReader(std::string_view text) : text_(text) {}

  // Opens the root element and returns its local name. Empty if there is none. Call it once, first.
  std::string_view Root();
  // Opens the next child of the open element. If there is none, closes the open element and returns
  // false.
  bool NextChild();
  // Returns the local name of the element opened last.
  std::string_view name() const { return name_; }
  // Returns the character data directly in the open element and closes the element. References are
  // resolved; nothing is trimmed. Valid until the next Text().
  std::string_view Text();
  // Closes the open element.
  void Skip();
  // Returns kInvalidArgument (code MalformedXML) with the byte offset if the text is not
  // well-formed, has no root, or continues after it. Call it after the root is closed.
  Result<void> Finish();

 private:
  struct Name {
    std::string_view full;
    std::string_view local;
  };
  // A start tag without attributes, and the tag that followed it last time. Documents with many
  // similar elements repeat their tags.
  struct Tag {
    std::string_view text;  // from '<' to '>'
    Name name;
    std::uint8_t next = 0;  // index in tags_; 0: unknown
  };

  bool Fail(std::string_view reason) { return FailAt(at_, reason); }
  bool FailAt(std::size_t offset, std::string_view reason);
  bool StartsWith(std::string_view token) const {
    return text_.size() - at_ >= token.size() &&
           std::memcmp(text_.data() + at_, token.data(), token.size()) == 0;
  }
  // Returns the next byte; NUL, which no document contains, at the end.
  char Here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace();
  Name TakeName();
  bool CheckText(std::string_view piece);
  bool AppendText(std::string_view piece);
  bool AppendCdata();
  bool SkipSection(std::string_view opening, std::string_view closing, std::string_view reason);
  bool SkipMarkup();
  bool OpenElement();
  bool TakeAttribute();
  void Remember(const Tag& tag);
  bool CloseElement();
  bool SkipOutside();

  std::string_view text_;
  std::size_t at_ = 0;
  std::array<std::string_view, kMaxDepth> open_;  // full names, outermost first
  std::size_t depth_ = 0;
  std::array<Tag, 24> tags_;  // the first represents the start of the document
  std::uint8_t tag_count_ = 1;
  std::uint8_t last_tag_ = 0;
  bool empty_element_ = false;  // the element opened last is empty: <name/>
  std::string_view name_;
  std::string resolved_;  // text that differs from the document after resolving
  std::optional<internal::XmlFault> fault_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_XML_XML_READER_H_
