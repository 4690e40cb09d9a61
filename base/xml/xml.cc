#include "base/xml/xml.h"

#include <new>
#include <pugixml.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/text/utf8.h"
#include "base/xml/xml_scan.h"

namespace penstock {
namespace {

// White space is content (a key may be one space), so nothing is trimmed or dropped. parse_fragment
// keeps text outside the root, so that it can be rejected instead of silently skipped. Document
// types are not parsed.
constexpr unsigned int kParseFlags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol |
                                     pugi::parse_ws_pcdata | pugi::parse_wconv_attribute |
                                     pugi::parse_fragment;

pugi::xml_node Node(void* node) {
  return pugi::xml_node(static_cast<pugi::xml_node_struct*>(node));
}

std::string_view LocalName(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

Error Malformed(std::string_view reason, std::size_t offset) {
  return internal::MalformedXml({offset, reason});
}

bool IsText(const pugi::xml_node& node) {
  return node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// A document has one element. Only white space, comments and processing instructions may surround
// it.
Result<void> CheckTopLevel(const pugi::xml_document& document, std::size_t size) {
  bool root = false;
  for (const pugi::xml_node& node : document.children()) {
    if (IsText(node) && (node.type() == pugi::node_cdata || !IsBlank(node.value()))) {
      return Malformed("text outside of the root element", root ? size : 0);
    }
    if (node.type() != pugi::node_element) continue;
    if (root)
      return Malformed("a second root element", static_cast<std::size_t>(node.offset_debug()));
    root = true;
  }
  if (!root) return Malformed("there is no root element", size);
  return Ok();
}

// Stops at the first element that has an attribute twice (XML 1.0, section 3.1).
struct RepeatedAttribute final : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node& node) override {
    std::unordered_set<std::string_view> names;
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      if (names.insert(attribute.name()).second) continue;
      element = node;
      return false;
    }
    return true;
  }
  pugi::xml_node element;
};

}  // namespace

XmlElement::operator bool() const { return node_ != nullptr; }

std::string_view XmlElement::name() const { return LocalName(Node(node_).name()); }

std::string XmlElement::text() const {
  std::string text;
  for (const pugi::xml_node& child : Node(node_).children()) {
    if (IsText(child)) text += child.value();
  }
  return text;
}

XmlElement XmlElement::Child(std::string_view name) const {
  for (const pugi::xml_node& child : Node(node_).children()) {
    if (child.type() == pugi::node_element && LocalName(child.name()) == name)
      return XmlElement(child.internal_object());
  }
  return {};
}

std::vector<XmlElement> XmlElement::Children(std::string_view name) const {
  std::vector<XmlElement> found;
  for (const pugi::xml_node& child : Node(node_).children()) {
    if (child.type() == pugi::node_element && LocalName(child.name()) == name) {
      found.push_back(XmlElement(child.internal_object()));
    }
  }
  return found;
}

std::vector<XmlElement> XmlElement::Children() const {
  std::vector<XmlElement> found;
  for (const pugi::xml_node& child : Node(node_).children()) {
    if (child.type() == pugi::node_element) found.push_back(XmlElement(child.internal_object()));
  }
  return found;
}

std::optional<std::string> XmlElement::Attribute(std::string_view name) const {
  const pugi::xml_node node = Node(node_);
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    if (attribute.name() == name) return attribute.value();
  }
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string_view full = attribute.name();
    if (!full.starts_with("xmlns:") && LocalName(full) == name) return attribute.value();
  }
  return std::nullopt;
}

struct XmlDocument::Impl {
  pugi::xml_document document;
};

XmlDocument::XmlDocument(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
XmlDocument::XmlDocument(XmlDocument&&) noexcept = default;
XmlDocument& XmlDocument::operator=(XmlDocument&&) noexcept = default;
XmlDocument::~XmlDocument() = default;

Result<XmlDocument> XmlDocument::Parse(std::string_view text, XmlCharacters characters) {
  if (const auto fault = internal::FindXmlFault(text))
    return Malformed(fault->reason, fault->offset);
  if (characters == XmlCharacters::kXml10) {
    if (const auto fault = internal::FindForeignCharacter(text))
      return Malformed(fault->reason, fault->offset);
  }
  auto impl = std::make_unique<Impl>();
  const pugi::xml_parse_result parsed =
      impl->document.load_buffer(text.data(), text.size(), kParseFlags, pugi::encoding_utf8);
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed) return Malformed(parsed.description(), static_cast<std::size_t>(parsed.offset));
  PENSTOCK_TRY(CheckTopLevel(impl->document, text.size()));
  RepeatedAttribute repeated;
  if (characters == XmlCharacters::kXml10 && !impl->document.traverse(repeated)) {
    return Malformed("an element has an attribute twice",
                     static_cast<std::size_t>(repeated.element.offset_debug()));
  }
  return XmlDocument(std::move(impl));
}

XmlElement XmlDocument::root() const {
  return XmlElement(impl_->document.document_element().internal_object());
}

}  // namespace penstock
