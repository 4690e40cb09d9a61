#include "client/s3/verbs/list_objects.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {
namespace {

constexpr int kMaxKeys = 1000;

Result<ObjectSummary> ReadSummary(const XmlElement& element, const NameDecoder& names) {
  ObjectSummary out;
  PENSTOCK_ASSIGN(out.key.value, names.Decode(element.Child("Key").text()));
  PENSTOCK_ASSIGN(out.size, ReadNumber(element, "Size"));
  out.etag = ReadETag(element.Child("ETag").text());
  out.last_modified = ReadTime(element, "LastModified");
  out.storage_class = element.Child("StorageClass").text();
  if (out.storage_class == "STANDARD") out.storage_class.clear();
  return out;
}

}  // namespace

Result<WireRequest> BuildRequest(const ListObjectsRequest& request, const BuildContext& context) {
  if (request.max_keys < 1 || request.max_keys > kMaxKeys) {
    return InvalidRequest("max_keys " + std::to_string(request.max_keys) + " is not within 1 to 1000");
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartBucketRequest(Operation::kListObjectsV2, request.bucket, context));
  wire.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", std::to_string(request.max_keys)}};
  if (!request.prefix.empty()) wire.query.emplace_back("prefix", request.prefix);
  if (!request.delimiter.empty()) wire.query.emplace_back("delimiter", request.delimiter);
  if (!request.continuation_token.empty()) {
    wire.query.emplace_back("continuation-token", request.continuation_token);
  } else if (!request.start_after.empty()) {
    wire.query.emplace_back("start-after", request.start_after);  // a token would win over it
  }
  return wire;
}

Result<ListObjectsResponse> ParseResponse(const ListObjectsRequest&, const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "ListBucketResult"));
  const XmlElement root = document.root();
  const NameDecoder names(root);
  ListObjectsResponse out;
  for (const XmlElement& element : root.Children("Contents")) {
    PENSTOCK_ASSIGN(ObjectSummary summary, ReadSummary(element, names));
    out.objects.push_back(std::move(summary));
  }
  for (const XmlElement& element : root.Children("CommonPrefixes")) {
    PENSTOCK_ASSIGN(std::string prefix, names.Decode(element.Child("Prefix").text()));
    out.common_prefixes.push_back(std::move(prefix));
  }
  if (ReadFlag(root, "IsTruncated")) {
    out.next_token = root.Child("NextContinuationToken").text();
    if (out.next_token.empty()) {
      return Error::Make(ErrorKind::kUnavailable,
                         "the listing says it goes on, but names no NextContinuationToken to go on with");
    }
  }
  return out;
}

}  // namespace penstock::s3
