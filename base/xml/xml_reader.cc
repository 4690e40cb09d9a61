#include "base/xml/xml_reader.h"

#include <cstdint>

#include "base/text/byte_runs.h"

namespace penstock {
namespace {

using internal::XmlFault;

constexpr std::string_view kNoEnd = "the document ends inside an element";
constexpr std::string_view kNoCdataEnd = "a CDATA section that does not end";
constexpr std::string_view kCdata = "<![CDATA[";

// Character classes. Bytes of UTF-8 sequences count as letters of names, as in other parsers
// without Unicode tables.
enum : std::uint8_t { kNameStart = 1, kNameRest = 2, kColon = 4, kSpecial = 8, kBlank = 16 };

constexpr std::array<std::uint8_t, 256> MakeClasses() {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t c = 0; c < 256; ++c) {
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || c >= 0x80;
    const bool rest = letter || (c >= '0' && c <= '9') || c == '-' || c == '.';
    classes[c] = static_cast<std::uint8_t>((letter ? kNameStart : 0) | (rest ? kNameRest : 0));
  }
  classes[':'] |= kColon;
  // Bytes that end text, must be resolved, or are rejected.
  for (std::size_t c = 0; c < 0x20; ++c) classes[c] |= c != '\t' && c != '\n' ? kSpecial : 0;
  for (const char c : {'\t', '\n'}) classes[static_cast<std::uint8_t>(c)] |= kBlank;
  for (const char c : {'<', '&'}) classes[static_cast<std::uint8_t>(c)] |= kSpecial;
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = MakeClasses();

bool Is(char c, std::uint8_t classes) {
  return (kClasses[static_cast<std::uint8_t>(c)] & classes) != 0;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Returns the offset, from `at` on, of the first byte of `text` that needs processing.
std::size_t PlainEnd(std::string_view text, std::size_t at) {
  for (;; ++at) {
    at = internal::SkipRun<internal::TextStops>(text, at);
    while (at < text.size() && !Is(text[at], kSpecial | kBlank)) ++at;
    if (at == text.size() || Is(text[at], kSpecial)) return at;
  }
}

}  // namespace

bool XmlReader::FailAt(std::size_t offset, std::string_view reason) {
  if (!fault_) fault_ = XmlFault{offset, reason};
  at_ = text_.size();
  depth_ = 0;
  empty_element_ = false;
  name_ = {};
  return false;
}

void XmlReader::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

// Takes the name at the current position. Empty if there is none.
XmlReader::Name XmlReader::TakeName() {
  const std::size_t begin = at_;
  if (begin == text_.size() || !Is(text_[begin], kNameStart)) return {};
  std::size_t end = internal::SkipRun<internal::NonLetters>(text_, begin);
  std::uint8_t seen = 0;
  for (; end < text_.size() && Is(text_[end], kNameRest); ++end)
    seen |= kClasses[static_cast<std::uint8_t>(text_[end])];
  at_ = end;
  const std::string_view full(text_.data() + begin, end - begin);
  return {full, (seen & kColon) == 0 ? full : full.substr(full.find(':') + 1)};
}

// Checks `piece`, a view into text_: character data, or a section in which '&' and '<' have no
// meaning.
bool XmlReader::CheckText(std::string_view piece) {
  const auto fault = internal::FindXmlFault(piece);
  return !fault || FailAt(static_cast<std::size_t>(piece.data() - text_.data()) + fault->offset,
                          fault->reason);
}

// Appends character data without markup: resolves line ends and references, copies the rest.
bool XmlReader::AppendText(std::string_view piece) {
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t special = PlainEnd(piece, at);
    resolved_.append(piece, at, special - at);
    at = special;
    if (at == piece.size()) break;
    if (piece[at] == '\r') {
      resolved_.push_back('\n');
      at += piece.substr(at, 2) == "\r\n" ? 2 : 1;
    } else if (const std::size_t length = internal::AppendReference(resolved_, piece.substr(at));
               length != 0) {
      at += length;
    } else {
      return CheckText(piece.substr(at));
    }
  }
  return true;
}

// Appends a CDATA section, starting at the '<'. Only line ends are normalized.
bool XmlReader::AppendCdata() {
  const std::size_t begin = at_ + kCdata.size();
  if (!SkipSection(kCdata, "]]>", kNoCdataEnd)) return false;
  std::string_view inside = text_.substr(begin, at_ - begin - 3);
  for (std::size_t cr; (cr = inside.find('\r')) != std::string_view::npos;) {
    resolved_.append(inside.substr(0, cr)).push_back('\n');
    inside.remove_prefix(cr + (inside.substr(cr, 2) == "\r\n" ? 2 : 1));
  }
  resolved_.append(inside);
  return true;
}

bool XmlReader::SkipSection(std::string_view opening, std::string_view closing,
                            std::string_view reason) {
  const std::size_t end = text_.find(closing, at_ + opening.size());
  if (end == std::string_view::npos) return Fail(reason);
  const std::string_view section = text_.substr(at_, end + closing.size() - at_);
  if (!CheckText(section)) return false;
  at_ += section.size();
  return true;
}

// Skips a comment or processing instruction, starting at the '<'.
bool XmlReader::SkipMarkup() {
  if (StartsWith("<!--")) return SkipSection("<!--", "-->", "a comment that does not end");
  if (StartsWith("<!DOCTYPE")) return Fail("a document type declaration, which is not accepted");
  if (!StartsWith("<?")) return Fail("markup that is neither an element nor a comment");
  if (at_ + 2 >= text_.size() || !Is(text_[at_ + 2], kNameStart))
    return Fail("a processing instruction without a name");
  return SkipSection("<?", "?>", "a processing instruction that does not end");
}

bool XmlReader::TakeAttribute() {
  if (TakeName().full.empty()) return Fail("a start tag with something that is not an attribute");
  SkipSpace();
  if (Here() != '=') return Fail("an attribute without a value");
  ++at_;
  SkipSpace();
  const char quote = Here();
  if (quote != '"' && quote != '\'') return Fail("an attribute's value without quotes");
  const std::size_t end = text_.find(quote, ++at_);
  if (end == std::string_view::npos) return Fail("an attribute's value that does not end");
  const std::string_view value = text_.substr(at_, end - at_);
  if (value.find('<') != std::string_view::npos) return Fail("'<' in an attribute's value");
  if (!CheckText(value)) return false;
  at_ = end + 1;
  const char next = Here();
  return IsSpace(next) || next == '>' || next == '/' ||
         Fail("an attribute without white space after it");
}

// Reads a start tag, starting at the '<'.
bool XmlReader::OpenElement() {
  if (depth_ == kMaxDepth) return Fail("elements nested deeper than 32");
  const Tag& guess = tags_[tags_[last_tag_].next];
  if (!guess.text.empty() && StartsWith(guess.text)) {  // nearly always: the same tag as last time
    last_tag_ = tags_[last_tag_].next;
    at_ += guess.text.size();
    open_[depth_++] = guess.name.full;
    name_ = guess.name.local;
    return true;
  }
  const std::size_t begin = at_++;
  const Name name = TakeName();
  if (name.full.empty()) return FailAt(begin, "'<' that does not start an element");
  const bool plain = Here() == '>';
  while (at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/') {
    if (!IsSpace(text_[at_])) return Fail("an element's name that does not end");
    SkipSpace();
    if (at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/' && !TakeAttribute())
      return false;
  }
  empty_element_ = Here() == '/';
  if (empty_element_) ++at_;
  if (Here() != '>') return FailAt(begin, "a start tag that does not end");
  ++at_;
  if (plain) Remember({text_.substr(begin, at_ - begin), name, 0});
  open_[depth_++] = name.full;
  name_ = name.local;
  return true;
}

// Predicts `tag` after the previous tag from now on.
void XmlReader::Remember(const Tag& tag) {
  std::uint8_t index = 1;
  while (index < tag_count_ && tags_[index].text != tag.text) ++index;
  if (index == tags_.size()) return;
  if (index == tag_count_) tags_[tag_count_++] = tag;
  tags_[last_tag_].next = index;
  last_tag_ = index;
}

// Reads an end tag, starting at the '<'.
bool XmlReader::CloseElement() {
  const std::string_view full = open_[depth_ - 1];
  const std::size_t begin = at_;
  at_ += 2;
  if (!StartsWith(full)) return FailAt(begin, "an end tag that does not match the open element");
  at_ += full.size();
  if (Here() != '>') SkipSpace();
  if (Here() != '>') return FailAt(begin, "an end tag that does not match the open element");
  ++at_;
  --depth_;
  return true;
}

// Skips white space, comments and processing instructions around the root. Returns true at an
// element, false at the end or a fault.
bool XmlReader::SkipOutside() {
  for (;;) {
    SkipSpace();
    if (at_ == text_.size()) return false;
    if (text_[at_] != '<' || StartsWith(kCdata)) return Fail("text outside of the root element");
    if (at_ + 1 < text_.size() && text_[at_ + 1] != '!' && text_[at_ + 1] != '?') return true;
    if (!SkipMarkup()) return false;
  }
}

std::string_view XmlReader::Root() {
  if (StartsWith("\xEF\xBB\xBF")) at_ += 3;
  if (!SkipOutside() || !OpenElement()) return {};
  return name_;
}

bool XmlReader::NextChild() {
  while (depth_ > 0) {
    if (empty_element_) {
      empty_element_ = false;
      --depth_;
      return false;
    }
    // Most services send no white space between elements.
    if (const std::size_t plain = Here() == '<' ? at_ : PlainEnd(text_, at_);
        plain < text_.size() && text_[plain] == '<') {
      at_ = plain;
    } else {
      const std::size_t open = text_.find('<', at_);
      if (open == std::string_view::npos) return Fail(kNoEnd);
      if (!CheckText(text_.substr(at_, open - at_))) return false;
      at_ = open;
    }
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next == '/') {
      CloseElement();
      return false;
    }
    if (next != '!' && next != '?') return OpenElement();
    if (StartsWith(kCdata) ? !SkipSection(kCdata, "]]>", kNoCdataEnd) : !SkipMarkup()) return false;
  }
  return false;
}

std::string_view XmlReader::Text() {
  if (depth_ == 0 || empty_element_) {
    NextChild();
    return {};
  }
  const std::size_t end = PlainEnd(text_, at_);
  if (end + 1 < text_.size() && text_[end] == '<' && text_[end + 1] == '/') {  // nearly always
    const std::string_view text(text_.data() + at_, end - at_);
    at_ = end;
    return CloseElement() ? text : std::string_view();
  }
  resolved_.clear();
  for (const std::size_t depth = depth_; depth_ >= depth && depth_ > 0;) {
    const std::size_t open = text_.find('<', at_);
    if (open == std::string_view::npos) {
      Fail(kNoEnd);
    } else if (AppendText(text_.substr(at_, open - at_))) {
      at_ = open;
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (next == '/') {
        CloseElement();
      } else if (StartsWith(kCdata)) {
        AppendCdata();
      } else if (next == '!' || next == '?') {
        SkipMarkup();
      } else if (OpenElement()) {
        Skip();
      }
    }
  }
  return fault_ ? std::string_view() : std::string_view(resolved_);
}

void XmlReader::Skip() {
  for (const std::size_t depth = depth_; depth_ >= depth && depth_ > 0;) NextChild();
}

Result<void> XmlReader::Finish() {
  if (!fault_) {
    if (depth_ != 0) {
      Fail(kNoEnd);
    } else if (SkipOutside()) {
      Fail(open_[0].empty() ? "there is no root element" : "a second root element");
    } else if (!fault_ && open_[0].empty()) {
      Fail("there is no root element");
    }
  }
  if (fault_) return internal::MalformedXml(*fault_);
  return Ok();
}

}  // namespace penstock
