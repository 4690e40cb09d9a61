#include "client/s3/verbs/verbs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/dates.h"
#include "base/xml/xml_reader.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/listing_page.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"

namespace penstock::s3 {
namespace {

// Reads one page from front to back: versions and delete markers in the order of the document.
class PageReader {
 public:
  PageReader(const ListObjectVersionsRequest& request, const WireResponse& response)
      : request_(request), response_(response), xml_(response.body) {}

  Result<ListObjectVersionsResponse> Read() {
    if (xml_.Root() != kRoot) return UnexpectedListing(response_, kRoot, xml_);
    page_.versions.reserve(
        std::min<std::size_t>(kMaxKeysOfAPage, response_.body.size() / kTypicalElementBytes));
    while (xml_.NextChild()) ReadMember(xml_.name());
    if (const auto finished = xml_.Finish(); !finished.ok()) {
      return UnreadableDocument(response_, kRoot, finished.error().message);
    }
    if (fault_) return *std::move(fault_);
    if (url_encoded_) PENSTOCK_TRY(DecodeNames());
    const bool has_marker = !page_.next_key_marker.empty();
    const bool repeats = page_.next_key_marker == request_.key_marker &&
                         page_.next_version_id_marker == request_.version_id_marker;
    if (!HasNextPage(truncated_, has_marker, repeats)) {
      page_.next_key_marker.clear();
      page_.next_version_id_marker = {};
    } else if (!has_marker) {
      return NoMarker("NextKeyMarker");
    }
    return std::move(page_);
  }

 private:
  static constexpr std::string_view kRoot = "ListVersionsResult";
  enum Member : std::uint16_t { kTruncated = 1, kKeyMarker = 2, kVersionMarker = 4, kEncoding = 8 };
  enum Field : std::uint16_t {
    kKey = 1,
    kVersion = 2,
    kLatest = 4,
    kSize = 8,
    kETag = 16,
    kModified = 32,
    kClass = 64
  };

  void ReadMember(std::string_view name) {
    if (name == "Version") {
      ReadVersion();
    } else if (name == "DeleteMarker") {
      page_.versions.emplace_back().is_delete_marker = true;
      ReadFields();
    } else if (name == "CommonPrefixes") {
      page_.common_prefixes.push_back(ReadCommonPrefix(xml_));
    } else if (name == "IsTruncated" && members_.Take(kTruncated)) {
      if (auto read = ReadTruncated(xml_.Text(), truncated_); !read.ok())
        RecordError(std::move(read).error());
    } else if (name == "NextKeyMarker" && members_.Take(kKeyMarker)) {
      page_.next_key_marker = xml_.Text();
    } else if (name == "NextVersionIdMarker" && members_.Take(kVersionMarker)) {
      page_.next_version_id_marker.value = xml_.Text();
    } else if (name == "EncodingType" && members_.Take(kEncoding)) {
      url_encoded_ = xml_.Text() == "url";
    } else {
      xml_.Skip();
    }
  }

  void ReadVersion() {
    page_.versions.emplace_back();
    if (!ReadFields()) RecordError(ParseNumber("Size", {}).error());
  }

  // Reads the fields of the last version. Returns whether it has a size.
  bool ReadFields() {
    ObjectVersionSummary& version = page_.versions.back();
    FirstOfEach fields;
    while (xml_.NextChild()) {
      const std::string_view name = xml_.name();
      if (name == "Key" && fields.Take(kKey)) {
        version.key.value = xml_.Text();
      } else if (name == "VersionId" && fields.Take(kVersion)) {
        version.version_id.value = xml_.Text();
      } else if (name == "IsLatest" && fields.Take(kLatest)) {
        version.is_latest = xml_.Text() == "true";
      } else if (name == "Size" && fields.Take(kSize)) {
        if (auto size = ParseNumber("Size", xml_.Text()); size.ok()) {
          version.size = *size;
        } else {
          RecordError(std::move(size).error());
        }
      } else if (name == "ETag" && fields.Take(kETag)) {
        version.etag = ReadETag(xml_.Text());
      } else if (name == "LastModified" && fields.Take(kModified)) {
        version.last_modified = ParseIso8601(xml_.Text()).value_or(WallTime{});
      } else if (name == "StorageClass" && fields.Take(kClass)) {
        const std::string_view storage_class = xml_.Text();
        if (storage_class != "STANDARD") version.storage_class = storage_class;
      } else {
        xml_.Skip();
      }
    }
    if (version.key.value.empty())
      RecordError(
          Error::Make(ErrorKind::kUnavailable, "the listing has a version without a <Key>"));
    // A version without its id could be neither read nor restored, and deleting it would delete the
    // object.
    if (fields.Take(kVersion) || version.version_id.empty()) {
      RecordError(
          Error::Make(ErrorKind::kUnavailable, "the listing has a version without a <VersionId>"));
    }
    return !fields.Take(kSize);
  }

  // Keeps the first error.
  void RecordError(Error error) {
    if (!fault_) fault_ = std::move(error);
  }

  Result<void> DecodeNames() {
    for (ObjectVersionSummary& version : page_.versions)
      PENSTOCK_TRY(DecodeName(version.key.value));
    for (std::string& prefix : page_.common_prefixes) PENSTOCK_TRY(DecodeName(prefix));
    return DecodeName(page_.next_key_marker);
  }

  const ListObjectVersionsRequest& request_;
  const WireResponse& response_;
  XmlReader xml_;
  FirstOfEach members_;
  ListObjectVersionsResponse page_;
  std::optional<bool> truncated_;
  bool url_encoded_ = false;
  std::optional<Error> fault_;
};

}  // namespace

Result<WireRequest> BuildRequest(const ListObjectVersionsRequest& request,
                                 const BuildContext& context) {
  if (request.max_keys < 0) {
    return InvalidRequest("max_keys must be 0 or more (S3 returns at most 1000), not " +
                          std::to_string(request.max_keys));
  }
  if (request.key_marker.empty() && !request.version_id_marker.empty()) {
    return InvalidRequest("version_id_marker '" + request.version_id_marker.value +
                          "' has no key_marker; give its key");
  }
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kListObjectVersions, request.bucket, context));
  wire.query = {
      {"versions", ""}, {"encoding-type", "url"}, {"max-keys", std::to_string(request.max_keys)}};
  if (!request.prefix.empty()) wire.query.emplace_back("prefix", request.prefix);
  if (!request.delimiter.empty()) wire.query.emplace_back("delimiter", request.delimiter);
  if (!request.key_marker.empty()) wire.query.emplace_back("key-marker", request.key_marker);
  if (!request.version_id_marker.empty())
    wire.query.emplace_back("version-id-marker", request.version_id_marker.value);
  return wire;
}

Result<ListObjectVersionsResponse> ParseResponse(const ListObjectVersionsRequest& request,
                                                 const WireResponse& response) {
  return PageReader(request, response).Read();
}

}  // namespace penstock::s3
