#include "client/s3/document.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/dates.h"
#include "client/http/uri.h"
#include "client/s3/error_document.h"

namespace penstock::s3 {
namespace {

Error Unreadable(std::string message) { return Error::Make(ErrorKind::kUnavailable, std::move(message)); }

}  // namespace

Result<XmlDocument> ReadDocument(const WireResponse& response, std::string_view root, std::string_view also) {
  const std::string status = std::to_string(response.head.status);
  auto document = XmlDocument::Parse(response.body);
  if (!document.ok()) {
    return Unreadable("the " + status + " answer should hold a <" + std::string(root) + "> document, but " +
                      (response.body.empty() ? std::string("it is empty") : document.error().message));
  }
  const std::string_view found = document->root().name();
  if (found == "Error") return ReadErrorElement(response.head, document->root());
  if (found != root && (also.empty() || found != also)) {
    return Unreadable("the " + status + " answer should hold a <" + std::string(root) + "> document, but its root is <" +
                      std::string(found) + ">");
  }
  return document;
}

Result<std::uint64_t> ReadNumber(const XmlElement& parent, std::string_view name) {
  const std::string text = parent.Child(name).text();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return Unreadable("the answer's <" + std::string(name) + "> is `" + text + "`, not a number");
  }
  return value;
}

bool ReadFlag(const XmlElement& parent, std::string_view name) { return parent.Child(name).text() == "true"; }

WallTime ReadTime(const XmlElement& parent, std::string_view name) {
  return ParseIso8601(parent.Child(name).text()).value_or(WallTime{});
}

NameDecoder::NameDecoder(const XmlElement& root) : url_encoded_(root.Child("EncodingType").text() == "url") {}

Result<std::string> NameDecoder::Decode(const std::string& text) const {
  if (!url_encoded_) return text;
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  auto decoded = http::DecodePercent(spaced);
  if (!decoded) return Unreadable("the listing holds `" + text + "`, which is not URL-encoded as it declares");
  return *std::move(decoded);
}

}  // namespace penstock::s3
