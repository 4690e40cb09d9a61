// XML read from front to back, in place: no tree, and no copy of text that stands in the document
// as it is meant. For documents large enough that xml.h's tree costs more than they are worth; the
// same text is well-formed to both.
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

// Walks the elements of one document. Each NextChild must be followed by Text, Skip, or NextChild
// until that is false, which closes the element again:
//
//   XmlReader xml(text);
//   if (xml.Root() == "List") while (xml.NextChild()) if (xml.name() == "Key") Use(xml.Text());
//   else xml.Skip(); PENSTOCK_TRY(xml.Finish());
//
// After a fault there are no more children and all text is empty; what was read before may be half
// of the document, so nothing counts until Finish() is ok. Namespaces are ignored. Document types
// are refused, so there are no entities but XML's own five; elements deeper than kMaxDepth are
// refused.
class XmlReader {
 public:
  static constexpr std::size_t kMaxDepth = 32;

  // `text` outlives the reader and every view that it gives.
  explicit XmlReader(std::string_view text) : text_(text) {}

  // Opens the root element and gives its local name; empty when there is none. Once, first.
  std::string_view Root();
  // Opens the next child element of the open one. False, closing the open one, when there is no
  // further.
  bool NextChild();
  // Local name of the element opened last.
  std::string_view name() const { return name_; }
  // The character data directly in the open element, entities resolved, not trimmed; closes the
  // element. Valid until the next Text().
  std::string_view Text();
  // Closes the open element.
  void Skip();
  // kInvalidArgument (code MalformedXML) naming the byte offset when the text is not well-formed,
  // has no root or goes on after it. The root must be closed by then.
  Result<void> Finish();

 private:
  struct Name {
    std::string_view full;
    std::string_view local;
  };
  // A start tag without attributes, and which one came after it last time: documents of many like
  // elements repeat theirs.
  struct Tag {
    std::string_view text;  // from '<' to '>'
    Name name;
    std::uint8_t next = 0;  // index in tags_; 0: not known
  };

  bool Fail(std::string_view reason) { return FailAt(at_, reason); }
  bool FailAt(std::size_t offset, std::string_view reason);
  bool StartsWith(std::string_view token) const {
    return text_.size() - at_ >= token.size() &&
           std::memcmp(text_.data() + at_, token.data(), token.size()) == 0;
  }
  // The next byte; NUL, which no document holds, at the end.
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
  std::array<Tag, 24> tags_;  // the first stands for the document's start
  std::uint8_t tag_count_ = 1;
  std::uint8_t last_tag_ = 0;
  bool empty_element_ = false;  // the element opened last was <like/> this
  std::string_view name_;
  std::string resolved_;  // text that does not stand in the document as it is meant
  std::optional<internal::XmlFault> fault_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_XML_XML_READER_H_
