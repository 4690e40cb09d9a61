#include "emulator/s3/protocol/document_schema.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/dates.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kXsi =
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"";

bool IsChoice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const auto space = choices.find(' ');
    if (choices.substr(0, space) == text) return true;
    if (space == std::string_view::npos) return false;
    choices.remove_prefix(space + 1);
  }
  return false;
}

bool IsInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// S3 accepts documents without a namespace. The sample request of PutBucketLogging in the Amazon S3
// API Reference uses the older namespace.
bool IsS3Namespace(std::string_view uri) {
  if (uri.ends_with('/')) uri.remove_suffix(1);
  return uri.empty() || uri == "http://s3.amazonaws.com/doc/2006-03-01" ||
         uri == "http://doc.s3.amazonaws.com/2006-03-01";
}

// S3 does not read the namespace of these documents (recorded against Amazon S3).
bool HasAnyNamespace(std::string_view root) {
  return root == "Delete" || root == "ObjectEncryption";
}

// Returns the text of a leaf in the form in which it is stored, or MalformedXML if it does not have
// the field's type.
Result<std::string> ReadText(const XmlElement& element, const Field& field) {
  if (!element.Children().empty()) return MalformedXml();
  std::string text = element.text();
  if (field.type == FieldType::kText) return text;
  text = TrimXml(text);
  bool matches = true;
  if (field.type == FieldType::kChoice) matches = IsChoice(field.choices, text);
  if (field.type == FieldType::kInteger) matches = IsInteger(text);
  if (field.type == FieldType::kDate) matches = ParseIso8601(text).has_value();
  if (field.type == FieldType::kFlag) {
    text = AsciiLower(text);
    matches = text == "true" || text == "false";
  }
  if (!matches) return MalformedXml();
  return text;
}

bool IsOptional(Occurs occurs) {
  return occurs == Occurs::kAtMostOnce || occurs == Occurs::kAnyNumber;
}
bool IsSingle(Occurs occurs) { return occurs == Occurs::kOnce || occurs == Occurs::kAtMostOnce; }

Result<Element> Read(const XmlElement& element, const Field& field);

// An element with the field of the schema that it matches.
struct Child {
  XmlElement element;
  const Field* field;
};

// Returns the children in the order of the schema, MalformedXML for unknown ones, or
// NotImplemented.
Result<std::vector<Child>> MatchChildren(const XmlElement& element, std::span<const Field> fields) {
  std::vector<Child> children;
  for (const XmlElement& child : element.Children()) {
    const std::string_view name = child.name();
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
    if (field == fields.end()) return MalformedXml();
    if (field->type == FieldType::kNotImplemented) {
      return NotImplemented("The element '" + std::string(name) +
                            "' is not implemented by this emulator");
    }
    children.push_back({child, &*field});
  }
  const auto before = [](const Child& a, const Child& b) { return a.field < b.field; };
  if (!std::is_sorted(children.begin(), children.end(), before))
    std::stable_sort(children.begin(), children.end(), before);
  return children;
}

// `children`: in the order of `fields`. MalformedXML where an element is missing or occurs too
// often.
Result<void> CheckOccurrences(const std::vector<Child>& children, std::span<const Field> fields) {
  auto next = children.begin();
  for (const Field& field : fields) {
    const auto first = next;
    while (next != children.end() && next->field == &field) ++next;
    const auto count = next - first;
    if (count == 0 ? !IsOptional(field.occurs) : count > 1 && IsSingle(field.occurs))
      return MalformedXml();
  }
  return Ok();
}

Result<void> ReadChildren(const XmlElement& element, const Field& group, Element& into) {
  PENSTOCK_ASSIGN(const std::vector<Child> children, MatchChildren(element, group.fields));
  // first: each Element takes several times the memory of its text
  PENSTOCK_TRY(CheckOccurrences(children, group.fields));
  into.children.reserve(children.size());
  for (const Child& child : children) {
    PENSTOCK_ASSIGN(Element read, Read(child.element, *child.field));
    into.children.push_back(std::move(read));
  }
  return Ok();
}

Result<Element> Read(const XmlElement& element, const Field& field) {
  if (const auto uri = element.Attribute("xmlns");
      uri && !IsS3Namespace(*uri) && !HasAnyNamespace(field.name))
    return MalformedXml();
  Element read;
  read.name = field.name;
  if (field.type != FieldType::kGroup && field.type != FieldType::kGrantee) {
    PENSTOCK_ASSIGN(read.text, ReadText(element, field));
    return read;
  }
  if (!TrimXml(element.text()).empty()) return MalformedXml();
  if (field.type == FieldType::kGrantee) {
    const std::string type = element.Attribute("type").value_or("");
    if (!IsChoice(field.choices, type)) return MalformedXml();
    read.attributes = std::string(kXsi) + type + "\"";
  }
  PENSTOCK_TRY(ReadChildren(element, field, read));
  return read;
}

}  // namespace

std::string_view TrimXml(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

const Element* Element::Find(std::string_view child) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Element& e) { return e.name == child; });
  return found == children.end() ? nullptr : &*found;
}

Element* Element::Find(std::string_view child) {
  return const_cast<Element*>(static_cast<const Element*>(this)->Find(child));
}

std::string_view Element::TextOf(std::string_view child) const {
  const Element* found = Find(child);
  return found ? std::string_view(found->text) : std::string_view();
}

std::vector<const Element*> Element::All(std::string_view child) const {
  std::vector<const Element*> all;
  for (const Element& element : children) {
    if (element.name == child) all.push_back(&element);
  }
  return all;
}

Result<Element> ReadBySchema(std::string_view text, const Field& schema) {
  PENSTOCK_ASSIGN(const XmlDocument document, ParseRequestDocument(text));
  if (document.root().name() != schema.name) return MalformedXml();
  return Read(document.root(), schema);
}

void WriteElement(std::string& out, const Element& element, std::string_view extra_attributes) {
  out.append("<").append(element.name);
  for (const std::string_view attributes :
       {std::string_view(element.attributes), extra_attributes}) {
    if (!attributes.empty()) out.append(" ").append(attributes);
  }
  if (element.text.empty() && element.children.empty()) {
    out.append("/>");
    return;
  }
  out.append(">");
  AppendXmlEscaped(out, element.text);
  for (const Element& child : element.children) WriteElement(out, child);
  out.append("</").append(element.name).append(">");
}

std::string WriteDocument(const Element& root, Prolog prolog) {
  std::string out;
  if (prolog == Prolog::kYes) out = kXmlProlog;
  WriteElement(out, root, kXmlNamespace);
  return out;
}

}  // namespace penstock::emulator::s3
