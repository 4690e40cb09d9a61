#include "client/s3/verbs/document.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/dates.h"
#include "client/http/uri.h"
#include "client/s3/verbs/error_document.h"

namespace penstock::s3 {
namespace {

Error Unreadable(std::string message) {
  return Error::Make(ErrorKind::kUnavailable, std::move(message));
}

constexpr std::string_view kWhitespace = " \t\r\n";
constexpr std::size_t kMaxQuotedBytes = 128;  // of a server's text, in a message

// Skips up to and including `mark`. Returns false if `text` does not contain it.
bool SkipTo(std::string_view mark, std::string_view& text) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return false;
  text.remove_prefix(at + mark.size());
  return true;
}

// Returns the local name of the root element from its start tag; later text is ignored. Returns
// empty if the text is not markup, nullopt if it ends before the name is complete.
std::optional<std::string_view> RootName(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kWhitespace), text.size()));
    if (text.empty()) return std::nullopt;
    if (text.front() != '<') return std::string_view{};
    if (!text.starts_with("<?") && !text.starts_with("<!")) break;
    if (!SkipTo(text.starts_with("<!--") ? "-->" : ">", text)) return std::nullopt;
  }
  text.remove_prefix(1);
  const std::size_t end = text.find_first_of(" \t\r\n/>");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, end);
  return name.substr(name.find(':') + 1);
}

// `wanted`: "a <Tagging> document".
Error NoDocument(const WireResponse& response, const std::string& wanted, std::string_view why) {
  return Unreadable("the " + std::to_string(response.head.status) + " response should contain " +
                    wanted + ", but " + std::string(why));
}

Error UnexpectedRoot(const WireResponse& response, const std::string& wanted,
                     std::string_view found) {
  Error error = NoDocument(
      response, wanted,
      found.empty() ? "it is not XML" : "its root is <" + Shortened(found, kMaxQuotedBytes) + ">");
  error.kind = ErrorKind::kUnsupported;
  return error;
}

std::string WithRoot(std::string_view root) { return "a <" + std::string(root) + "> document"; }

// `is_expected(name)`: whether the root may have that name.
template <class IsExpected>
Result<XmlDocument> ReadDocumentIf(const WireResponse& response, const std::string& wanted,
                                   const IsExpected& is_expected) {
  auto document = XmlDocument::Parse(response.body);
  if (!document.ok()) {
    const auto found = RootName(response.body);
    if (found && *found != "Error" && !is_expected(*found))
      return UnexpectedRoot(response, wanted, *found);
    return NoDocument(response, wanted,
                      response.body.empty() ? "it is empty" : document.error().message);
  }
  const std::string_view found = document->root().name();
  if (found == "Error") return ReadErrorElement(response.head, document->root());
  if (!is_expected(found)) return UnexpectedRoot(response, wanted, found);
  return document;
}

bool IsPage(std::string_view root) {
  return root.empty() || http::EqualsIgnoringCase(root, "html");
}

}  // namespace

Error UnreadableDocument(const WireResponse& response, std::string_view root,
                         std::string_view why) {
  return NoDocument(response, WithRoot(root), why);
}

Result<XmlDocument> ReadDocument(const WireResponse& response, std::string_view root,
                                 std::string_view also) {
  return ReadDocumentIf(response, WithRoot(root), [&](std::string_view name) {
    return name == root || (!also.empty() && name == also);
  });
}

Result<XmlDocument> ReadDocumentWithKey(const WireResponse& response, std::string_view root,
                                        std::string_view also) {
  if (std::string readable = WithoutNulReferences(response.body); readable != response.body)
    return ReadDocument({response.head, std::move(readable)}, root, also);
  return ReadDocument(response, root, also);
}

Result<void> CheckAnyDocument(const WireResponse& response) {
  PENSTOCK_TRY(ReadDocumentIf(response, "the configuration", [](std::string_view name) {
    return !IsPage(name) && !name.starts_with("List");
  }));
  return Ok();
}

Result<void> CheckNoDocument(const WireResponse& response) {
  if (response.body.find_first_not_of(kWhitespace) == std::string::npos) return Ok();
  const auto root = RootName(response.body);
  if (root && *root == "Error") {
    const auto document = XmlDocument::Parse(response.body);
    if (document.ok()) return ReadErrorElement(response.head, document->root());
  }
  const bool is_page = root && IsPage(*root);
  if (root && !is_page && *root != "Error") return Ok();
  const std::string start =
      "the " + std::to_string(response.head.status) + " response should have no body, but ";
  if (!is_page) return Unreadable(start + "it contains an incomplete document");
  return Error::Make(
      ErrorKind::kUnsupported,
      start + (root->empty() ? "it contains text that is not XML" : "it contains a web page"));
}

bool IsNotFromS3(const Error& error) {
  const bool success = error.http_status >= 200 && error.http_status < 300;
  return success && error.kind == ErrorKind::kUnsupported && error.code.empty();
}

Result<void> CheckHasETag(const http::ResponseHead& head) {
  if (const auto etag = head.Find("etag"); etag && !etag->empty()) return Ok();
  // Without a declared body length the head may be incomplete.
  const bool whole = head.Find("content-length") || head.Find("transfer-encoding");
  const ErrorKind kind = whole ? ErrorKind::kUnsupported : ErrorKind::kUnavailable;
  return Error::Make(kind, "the " + std::to_string(head.status) +
                               " response has no ETag, which S3 sends for every object");
}

Result<void> CheckHasETag(const WireResponse& response, const ETag& etag) {
  if (!etag.value.empty()) return Ok();
  return Error::Make(ErrorKind::kUnsupported,
                     "the document of the " + std::to_string(response.head.status) +
                         " response has no ETag, which S3 sends for every object");
}

Result<std::uint64_t> ParseNumber(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return Unreadable("the response's <" + std::string(name) + "> is `" +
                      Shortened(text, kMaxQuotedBytes) + "`, not a number");
  }
  return value;
}

Result<std::uint64_t> ReadNumber(const XmlElement& parent, std::string_view name) {
  return ParseNumber(name, parent.Child(name).text());
}

bool ReadFlag(const XmlElement& parent, std::string_view name) {
  return parent.Child(name).text() == "true";
}

WallTime ReadTime(const XmlElement& parent, std::string_view name) {
  return ParseIso8601(parent.Child(name).text()).value_or(WallTime{});
}

NameDecoder::NameDecoder(const XmlElement& root)
    : url_encoded_(root.Child("EncodingType").text() == "url") {}

Result<void> DecodeName(std::string& name) {
  const std::string_view text = name;
  std::size_t at = std::min(text.find('%'), text.find('+'));
  if (at == std::string_view::npos) return Ok();  // most names
  char* const begin = name.data();
  char* end = begin + at;  // of the decoded part, which is never longer
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '+') {
      c = ' ';
    } else if (c == '%') {
      const std::optional<char> decoded = http::DecodeEscape(text.substr(at));
      if (!decoded) {
        return Unreadable(
            "the listing contains `" +
            Shortened(std::string(begin, end).append(text.substr(at)), kMaxQuotedBytes) +
            "`, which is not URL-encoded as it declares");
      }
      c = *decoded;
      at += 2;
    }
    *end++ = c;
  }
  name.resize(static_cast<std::size_t>(end - begin));
  return Ok();
}

Result<std::string> NameDecoder::Decode(std::string text) const {
  if (url_encoded_) PENSTOCK_TRY(DecodeName(text));
  return text;
}

}  // namespace penstock::s3
