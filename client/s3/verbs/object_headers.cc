#include "client/s3/verbs/object_headers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "base/dates.h"

namespace penstock::s3 {
namespace {

constexpr std::string_view kAmzPrefix = "x-amz-";
constexpr std::string_view kMetaPrefix = "x-amz-meta-";
constexpr std::string_view kChecksumPrefix = "x-amz-checksum-";
constexpr std::size_t kMaxUserMetadataBytes = 2048;

Error Invalid(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

bool IsTokenChar(char c) {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsPrintableAscii(char c) { return c >= ' ' && c <= '~'; }

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<void> AppendText(std::string_view header, const std::string& value,
                        std::vector<http::Header>& headers) {
  if (value.empty()) return Ok();
  if (!std::all_of(value.begin(), value.end(), IsPrintableAscii)) {
    return Invalid(std::string(header) +
                   " has a character that is not printable ASCII; a header cannot carry it");
  }
  headers.push_back({std::string(header), value});
  return Ok();
}

// Adds a checksum header to `metadata`; `name` is without its prefix. A value with "-N" is a
// checksum of checksums and is skipped.
void ReadChecksum(std::string_view name, std::string_view value, ObjectMetadata& metadata) {
  if (name.empty() || value.find('-') != std::string_view::npos) return;
  for (const std::string_view other : {"type", "algorithm", "mode"}) {
    if (http::EqualsIgnoringCase(name, other)) return;
  }
  metadata.checksums.emplace_back(AsciiLower(name), value);
}

}  // namespace

ETag ReadETag(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return ETag(std::string(text));
}

std::string QuoteETag(const ETag& etag) {
  return etag.value == "*" ? etag.value : "\"" + etag.value + "\"";
}

Result<void> AppendAttributes(const ObjectAttributes& attributes,
                              std::vector<http::Header>& headers) {
  PENSTOCK_TRY(AppendText("Content-Type", attributes.content_type, headers));
  PENSTOCK_TRY(AppendText("x-amz-storage-class", attributes.storage_class, headers));
  std::size_t bytes = 0;
  for (const auto& [name, value] : attributes.user_metadata) {
    if (name.empty() || !std::all_of(name.begin(), name.end(), IsTokenChar)) {
      return Invalid("user metadata name `" + name +
                     "` is not a header token; use letters, digits, - and _");
    }
    if (!std::all_of(value.begin(), value.end(), IsPrintableAscii)) {
      return Invalid("user metadata `" + name +
                     "` has a value with characters other than printable ASCII; encode it");
    }
    bytes += name.size() + value.size();
    headers.push_back({std::string(kMetaPrefix) + AsciiLower(name), value});
  }
  if (bytes > kMaxUserMetadataBytes) {
    return Invalid("user metadata has " + std::to_string(bytes) +
                   " bytes of names and values; S3 allows at most 2048");
  }
  return Ok();
}

// Reads the headers in one pass; the first of each name counts.
ObjectMetadata ReadMetadata(const http::ResponseHead& head) {
  ObjectMetadata out;
  bool composite = false;
  const auto first = [](std::string& into, std::string_view value) {
    if (into.empty()) into = value;
  };
  for (const http::Header& header : head.headers) {
    const std::string_view name = header.name;
    const std::string_view value = header.value;
    if (!http::StartsWithIgnoringCase(name, kAmzPrefix)) {
      if (http::EqualsIgnoringCase(name, "etag")) {
        if (out.etag.empty()) out.etag = ReadETag(value);
      } else if (http::EqualsIgnoringCase(name, "last-modified")) {
        if (out.last_modified == WallTime{})
          out.last_modified = ParseHttpDate(value).value_or(WallTime{});
      } else if (http::EqualsIgnoringCase(name, "content-type")) {
        first(out.content_type, value);
      }
      continue;
    }
    if (http::StartsWithIgnoringCase(name, kChecksumPrefix)) {
      composite = composite ||
                  (http::EqualsIgnoringCase(name, "x-amz-checksum-type") && value == "COMPOSITE");
      ReadChecksum(name.substr(kChecksumPrefix.size()), value, out);
    } else if (http::StartsWithIgnoringCase(name, kMetaPrefix)) {
      out.user_metadata.emplace_back(AsciiLower(name.substr(kMetaPrefix.size())), value);
    } else if (http::EqualsIgnoringCase(name, "x-amz-storage-class")) {
      first(out.storage_class, value);
    } else if (http::EqualsIgnoringCase(name, "x-amz-version-id")) {
      first(out.version_id.value, value);
    } else if (http::EqualsIgnoringCase(name, "x-amz-restore")) {
      first(out.restore, value);
    }
  }
  if (composite) out.checksums.clear();
  return out;
}

std::optional<std::uint64_t> ReadContentLength(const http::ResponseHead& head) {
  const auto text = head.Find("content-length");
  return text ? ParseNumber(*text) : std::nullopt;
}

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  if (!text.starts_with("bytes ")) return std::nullopt;
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash)
    return std::nullopt;
  const auto first = ParseNumber(text.substr(0, dash));
  const auto last_inclusive = ParseNumber(text.substr(dash + 1, slash - dash - 1));
  const auto size = ParseNumber(text.substr(slash + 1));
  if (!first || !last_inclusive || !size || *first > *last_inclusive || *last_inclusive >= *size)
    return std::nullopt;
  return ContentRange{{*first, *last_inclusive + 1}, *size};
}

Result<std::string> FormatRange(const RangeRequest& range) {
  if (range.suffix) {
    if (range.begin || range.end)
      return Invalid("a range has either a suffix or begin and end, not both");
    if (*range.suffix == 0)
      return Invalid("a suffix range of 0 bytes selects nothing; ask for at least 1");
    return "bytes=-" + std::to_string(*range.suffix);
  }
  const std::uint64_t begin = range.begin.value_or(0);
  if (!range.end) return "bytes=" + std::to_string(begin) + "-";
  if (*range.end <= begin) {
    return Invalid("range [" + std::to_string(begin) + ", " + std::to_string(*range.end) +
                   ") is empty; its end must be greater than its start");
  }
  const std::uint64_t last_inclusive = *range.end - 1;
  return "bytes=" + std::to_string(begin) + "-" + std::to_string(last_inclusive);
}

ByteRange Select(const RangeRequest& range, std::uint64_t object_size) {
  if (range.suffix) return {object_size - std::min(*range.suffix, object_size), object_size};
  const std::uint64_t begin = std::min(range.begin.value_or(0), object_size);
  return {begin, std::max(begin, std::min(range.end.value_or(object_size), object_size))};
}

}  // namespace penstock::s3
