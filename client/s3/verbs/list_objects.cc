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
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
namespace {

// Reads one page from front to back. Checks that need the whole document run at its end.
class PageReader {
 public:
  explicit PageReader(const WireResponse& response) : response_(response), xml_(response.body) {}

  Result<ListObjectsResponse> Read() {
    if (xml_.Root() != kRoot) return UnexpectedListing(response_, kRoot, xml_);
    page_.objects.reserve(
        std::min<std::size_t>(kMaxKeysOfAPage, response_.body.size() / kTypicalElementBytes));
    while (xml_.NextChild()) ReadMember(xml_.name());
    if (const auto finished = xml_.Finish(); !finished.ok())
      return Unreadable(finished.error().message);
    if (fault_) return *std::move(fault_);
    if (url_encoded_) PENSTOCK_TRY(DecodeNames());
    const bool has_token = !page_.next_token.empty();
    // Tokens of a server may repeat.
    const bool next = HasNextPage(truncated_, has_token, false);
    if (!next) page_.next_token.clear();
    if (next && !has_token) return NoMarker("NextContinuationToken");
    return std::move(page_);
  }

 private:
  static constexpr std::string_view kRoot = "ListBucketResult";
  enum Member : std::uint8_t { kTruncated = 1, kToken = 2, kEncoding = 4 };
  enum Field : std::uint8_t { kKey = 1, kSize = 2, kETag = 4, kModified = 8, kClass = 16 };

  Error Unreadable(const std::string& why) const {
    return UnreadableDocument(response_, kRoot, why);
  }

  void ReadMember(std::string_view name) {
    if (name == "Contents") {
      ReadSummary();
    } else if (name == "CommonPrefixes") {
      page_.common_prefixes.push_back(ReadCommonPrefix(xml_));
    } else if (name == "IsTruncated" && members_.Take(kTruncated)) {
      RecordError(ReadTruncated(xml_.Text(), truncated_));
    } else if (name == "NextContinuationToken" && members_.Take(kToken)) {
      page_.next_token = xml_.Text();
    } else if (name == "EncodingType" && members_.Take(kEncoding)) {
      url_encoded_ = xml_.Text() == "url";
    } else {
      xml_.Skip();
    }
  }

  void ReadSummary() {
    ObjectSummary& object = page_.objects.emplace_back();
    FirstOfEach fields;
    while (xml_.NextChild()) {
      const std::string_view name = xml_.name();
      if (name == "Key" && fields.Take(kKey)) {
        object.key.value = xml_.Text();
      } else if (name == "Size" && fields.Take(kSize)) {
        ReadSize(xml_.Text(), object.size);
      } else if (name == "ETag" && fields.Take(kETag)) {
        object.etag = ReadETag(xml_.Text());
      } else if (name == "LastModified" && fields.Take(kModified)) {
        object.last_modified = ParseIso8601(xml_.Text()).value_or(WallTime{});
      } else if (name == "StorageClass" && fields.Take(kClass)) {
        const std::string_view storage_class = xml_.Text();
        if (storage_class != "STANDARD") object.storage_class = storage_class;
      } else {
        xml_.Skip();
      }
    }
    if (fields.Take(kSize)) ReadSize({}, object.size);
    if (object.key.value.empty())
      RecordError(
          Error::Make(ErrorKind::kUnavailable, "the listing has an object without a <Key>"));
  }

  void ReadSize(std::string_view text, std::uint64_t& size) {
    auto number = ParseNumber("Size", text);
    if (number.ok()) {
      size = *number;
    } else {
      RecordError(std::move(number).error());
    }
  }

  void RecordError(const Result<void>& result) {
    if (!result.ok() && !fault_) fault_ = result.error();
  }

  Result<void> DecodeNames() {
    for (ObjectSummary& object : page_.objects) PENSTOCK_TRY(DecodeName(object.key.value));
    for (std::string& prefix : page_.common_prefixes) PENSTOCK_TRY(DecodeName(prefix));
    return Ok();
  }

  const WireResponse& response_;
  XmlReader xml_;
  FirstOfEach members_;
  ListObjectsResponse page_;
  std::optional<bool> truncated_;
  bool url_encoded_ = false;
  std::optional<Error> fault_;  // The first error in a value.
};

// Directory buckets accept neither a prefix that ends inside a name nor start-after. The client
// lists the directory and filters the page. The directory of a prefix without `/` is the bucket.
std::string DirectoryOf(const std::string& prefix) {
  return prefix.substr(0, prefix.rfind('/') + 1);
}

// A service that ignores the prefix must not make callers delete, copy or read other objects.
Result<void> CheckPrefix(const ListObjectsRequest& request, const ListObjectsResponse& page) {
  const auto outside = [&](const std::string& name) -> Result<void> {
    if (name.starts_with(request.prefix)) return Ok();
    return Error::Make(ErrorKind::kDataLoss, "the listing of the prefix `" + request.prefix +
                                                 "` contains `" + name +
                                                 "`, which does not start with it");
  };
  for (const ObjectSummary& object : page.objects) PENSTOCK_TRY(outside(object.key.value));
  for (const std::string& prefix : page.common_prefixes) PENSTOCK_TRY(outside(prefix));
  return Ok();
}

void FilterPage(const ListObjectsRequest& request, ListObjectsResponse& page) {
  std::erase_if(page.objects, [&](const ObjectSummary& object) {
    return !object.key.value.starts_with(request.prefix) ||
           (!request.start_after.empty() && object.key.value <= request.start_after);
  });
  std::erase_if(page.common_prefixes, [&](const std::string& prefix) {
    return !prefix.starts_with(request.prefix) ||
           (!request.start_after.empty() && prefix <= request.start_after);
  });
}

}  // namespace

Result<WireRequest> BuildRequest(const ListObjectsRequest& request, const BuildContext& context) {
  if (request.max_keys < 0) {
    return InvalidRequest("max_keys must be 0 or more (S3 returns at most 1000), not " +
                          std::to_string(request.max_keys));
  }
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kListObjectsV2, request.bucket, context));
  wire.query = {
      {"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", std::to_string(request.max_keys)}};
  const bool directory = IsDirectoryBucket(request.bucket.value);
  const std::string prefix = directory ? DirectoryOf(request.prefix) : request.prefix;
  if (!prefix.empty()) wire.query.emplace_back("prefix", prefix);
  if (!request.delimiter.empty()) wire.query.emplace_back("delimiter", request.delimiter);
  if (!request.continuation_token.empty()) {
    wire.query.emplace_back("continuation-token", request.continuation_token);
  } else if (!request.start_after.empty() && !directory) {
    wire.query.emplace_back("start-after", request.start_after);  // A token takes precedence.
  }
  return wire;
}

Result<ListObjectsResponse> ParseResponse(const ListObjectsRequest& request,
                                          const WireResponse& response) {
  PENSTOCK_ASSIGN(ListObjectsResponse page, PageReader(response).Read());
  if (IsDirectoryBucket(request.bucket.value)) {
    FilterPage(request, page);
  } else if (!request.prefix.empty()) {
    PENSTOCK_TRY(CheckPrefix(request, page));
  }
  return page;
}

}  // namespace penstock::s3
