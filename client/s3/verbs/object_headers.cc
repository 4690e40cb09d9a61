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

Error Invalid(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
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

struct TextHeader {
  std::string_view name;
  std::string ObjectDetails::*text;
};
constexpr TextHeader kContentHeaders[] = {
    {"cache-control", &ObjectDetails::cache_control},
    {"content-encoding", &ObjectDetails::content_encoding},
    {"content-disposition", &ObjectDetails::content_disposition},
    {"content-language", &ObjectDetails::content_language},
    {"expires", &ObjectDetails::expires},
};
constexpr TextHeader kAmzHeaders[] = {
    {"x-amz-website-redirect-location", &ObjectDetails::website_redirect},
    {"x-amz-server-side-encryption-aws-kms-key-id", &ObjectDetails::kms_key_id},
    {"x-amz-server-side-encryption-customer-key-md5", &ObjectDetails::customer_key_md5},
    {"x-amz-expiration", &ObjectDetails::expiration},
    {"x-amz-replication-status", &ObjectDetails::replication_status},
    {"x-amz-archive-status", &ObjectDetails::archive_status},
};
struct CountHeader {
  std::string_view name;
  std::optional<int> ObjectDetails::*count;
};
constexpr CountHeader kCounts[] = {
    {"x-amz-tagging-count", &ObjectDetails::tag_count},
    {"x-amz-missing-meta", &ObjectDetails::missing_metadata},
};

std::optional<int> ParseCount(std::string_view text) {
  constexpr std::uint64_t kMax = 1'000'000;
  const auto number = ParseNumber(text);
  if (!number || *number > kMax) return std::nullopt;
  return static_cast<int>(*number);
}

// Reads a header into the member of its row. Returns whether the table has the name.
template <std::size_t kRows>
bool ReadText(const TextHeader (&table)[kRows], std::string_view name, std::string_view value,
              ObjectMetadata& out) {
  for (const TextHeader& row : table) {
    if (!http::EqualsIgnoringCase(name, row.name)) continue;
    std::string& text = out.details.Edit().*row.text;
    if (text.empty()) text = value;
    return true;
  }
  return false;
}

// Reads x-amz-object-lock-*; `name` is without this prefix.
void ReadLock(std::string_view name, std::string_view value, ObjectLock& lock) {
  if (http::EqualsIgnoringCase(name, "mode")) {
    lock.mode = value == "GOVERNANCE"   ? LockMode::kGovernance
                : value == "COMPLIANCE" ? LockMode::kCompliance
                                        : LockMode::kNone;
  } else if (http::EqualsIgnoringCase(name, "retain-until-date")) {
    lock.retain_until = ParseIso8601(value).value_or(WallTime{});
  } else if (http::EqualsIgnoringCase(name, "legal-hold")) {
    lock.legal_hold = value == "ON";
  }
}

// Reads the x-amz headers that few responses have.
void ReadRareHeader(std::string_view name, std::string_view value, ObjectMetadata& out) {
  constexpr std::string_view kLock = "x-amz-object-lock-";
  if (ReadText(kAmzHeaders, name, value, out)) return;
  for (const CountHeader& row : kCounts) {
    if (http::EqualsIgnoringCase(name, row.name)) {
      out.details.Edit().*row.count = ParseCount(value);
      return;
    }
  }
  if (http::EqualsIgnoringCase(name, "x-amz-mp-parts-count")) {
    out.parts_count = ParseCount(value);
  } else if (http::EqualsIgnoringCase(name, "x-amz-server-side-encryption-bucket-key-enabled")) {
    out.details.Edit().bucket_key = value == "true";
  } else if (http::EqualsIgnoringCase(name, "x-amz-server-side-encryption-customer-algorithm")) {
    out.encryption = EncryptionKind::kCustomerKey;
  } else if (http::StartsWithIgnoringCase(name, kLock)) {
    ReadLock(name.substr(kLock.size()), value, out.details.Edit().lock);
  }
}

}  // namespace

EncryptionKind ReadEncryption(std::string_view value) {
  if (value.empty()) return EncryptionKind::kNone;
  if (value == "AES256") return EncryptionKind::kS3;
  if (value == "aws:kms") return EncryptionKind::kKms;
  return value == "aws:kms:dsse" ? EncryptionKind::kDsse : EncryptionKind::kOther;
}

ETag ReadETag(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return ETag(std::string(text));
}

std::string QuoteETag(const ETag& etag) {
  return etag.value == "*" ? etag.value : "\"" + etag.value + "\"";
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
      } else {
        ReadText(kContentHeaders, name, value, out);
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
    } else if (http::EqualsIgnoringCase(name, "x-amz-server-side-encryption")) {
      out.encryption = ReadEncryption(value);
    } else {
      ReadRareHeader(name, value, out);
    }
  }
  if (composite) out.checksums.clear();
  return out;
}

VersionId ReadVersionId(const http::ResponseHead& head) {
  return VersionId(std::string(head.Find("x-amz-version-id").value_or(std::string_view{})));
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
