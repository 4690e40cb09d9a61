#include "client/s3/document.h"

#include <charconv>
#include <utility>

#include "base/dates.h"
#include "client/http/uri.h"
#include "client/s3/error_document.h"

namespace penstock::s3 {
namespace {

Error Unreadable(std::string message) { return Error::Make(ErrorKind::kUnavailable, std::move(message)); }

}  // namespace

Error UnreadableDocument(const WireResponse& response, std::string_view root, std::string_view why) {
  return Unreadable("the " + std::to_string(response.head.status) + " answer should hold a <" + std::string(root) +
                    "> document, but " + std::string(why));
}

Result<XmlDocument> ReadDocument(const WireResponse& response, std::string_view root, std::string_view also) {
  auto document = XmlDocument::Parse(response.body);
  if (!document.ok()) {
    return UnreadableDocument(response, root, response.body.empty() ? "it is empty" : document.error().message);
  }
  const std::string_view found = document->root().name();
  if (found == "Error") return ReadErrorElement(response.head, document->root());
  if (found != root && (also.empty() || found != also)) {
    return UnreadableDocument(response, root, "its root is <" + std::string(found) + ">");
  }
  return document;
}

Result<std::uint64_t> ParseNumber(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return Unreadable("the answer's <" + std::string(name) + "> is `" + std::string(text) + "`, not a number");
  }
  return value;
}

Result<std::uint64_t> ReadNumber(const XmlElement& parent, std::string_view name) {
  return ParseNumber(name, parent.Child(name).text());
}

bool ReadFlag(const XmlElement& parent, std::string_view name) { return parent.Child(name).text() == "true"; }

WallTime ReadTime(const XmlElement& parent, std::string_view name) {
  return ParseIso8601(parent.Child(name).text()).value_or(WallTime{});
}

NameDecoder::NameDecoder(const XmlElement& root) : url_encoded_(root.Child("EncodingType").text() == "url") {}

Result<void> DecodeName(std::string& name) {
  std::size_t kept = 0;
  while (kept < name.size() && name[kept] != '%' && name[kept] != '+') ++kept;
  for (std::size_t at = kept; at < name.size(); ++at) {
    char c = name[at] == '+' ? ' ' : name[at];
    if (c == '%') {
      const auto decoded = http::DecodePercent(std::string_view(name).substr(at, 3));
      if (!decoded) return Unreadable("the listing holds `" + name.substr(0, kept) + name.substr(at) + "`, which is not URL-encoded as it declares");
      c = decoded->front();
      at += 2;
    }
    name[kept++] = c;
  }
  name.resize(kept);
  return Ok();
}

Result<std::string> NameDecoder::Decode(std::string text) const {
  if (url_encoded_) PENSTOCK_TRY(DecodeName(text));
  return text;
}

}  // namespace penstock::s3
