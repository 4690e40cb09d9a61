#include "client/s3/verbs/verbs.h"

#include <optional>
#include <string>
#include <utility>

#include "client/s3/verbs/document.h"
#include "client/s3/verbs/listing_page.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"

namespace penstock::s3 {
namespace {

Result<int> ReadPartNumber(const XmlElement& parent, std::string_view name) {
  PENSTOCK_ASSIGN(const std::uint64_t number, ReadNumber(parent, name));
  if (number > 10'000) {
    return Error::Make(ErrorKind::kUnavailable, "the response's <" + std::string(name) + "> is " +
                                                    std::to_string(number) + ", above 10000");
  }
  return static_cast<int>(number);
}

// Returns no value if the page does not have IsTruncated.
Result<std::optional<bool>> TruncatedOf(const XmlElement& root) {
  std::optional<bool> truncated;
  if (const XmlElement element = root.Child("IsTruncated"))
    PENSTOCK_TRY(ReadTruncated(element.text(), truncated));
  return truncated;
}

}  // namespace

Result<WireRequest> BuildRequest(const ListPartsRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kListParts, request.bucket, request.key, context));
  wire.query.emplace_back("uploadId", request.upload_id.value);
  if (request.part_number_marker > 0) {
    wire.query.emplace_back("part-number-marker", std::to_string(request.part_number_marker));
  }
  AppendCustomerKey(request.customer_key, wire);
  return wire;
}

Result<ListPartsResponse> ParseResponse(const ListPartsRequest& request,
                                        const WireResponse& response) {
  // moto 5 returns <ListPartsResponse>.
  PENSTOCK_ASSIGN(const XmlDocument document,
                  ReadDocumentWithKey(response, "ListPartsResult", "ListPartsResponse"));
  const XmlElement root = document.root();
  ListPartsResponse out;
  for (const XmlElement& element : root.Children("Part")) {
    PartSummary part;
    PENSTOCK_ASSIGN(part.part_number, ReadPartNumber(element, "PartNumber"));
    PENSTOCK_ASSIGN(part.size, ReadNumber(element, "Size"));
    part.etag = ReadETag(element.Child("ETag").text());
    out.parts.push_back(std::move(part));
  }
  constexpr const char* kMarker = "NextPartNumberMarker";
  PENSTOCK_ASSIGN(const std::optional<bool> truncated, TruncatedOf(root));
  int marker = 0;
  if (!root.Child(kMarker).text().empty()) {
    PENSTOCK_ASSIGN(marker, ReadPartNumber(root, kMarker));
  }
  const bool repeats = marker <= request.part_number_marker;
  if (HasNextPage(truncated, marker > 0, repeats)) {
    if (root.Child(kMarker).text().empty()) return NoMarker(kMarker);
    if (repeats) {
      return Error::Make(ErrorKind::kUnavailable,
                         "the listing is truncated, but its NextPartNumberMarker is " +
                             std::to_string(marker) + ", not above " +
                             std::to_string(request.part_number_marker));
    }
    out.next_part_number_marker = marker;
  }
  return out;
}

Result<WireRequest> BuildRequest(const ListMultipartUploadsRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kListMultipartUploads, request.bucket, context));
  wire.query = {{"uploads", ""}, {"encoding-type", "url"}};
  if (!request.prefix.empty()) wire.query.emplace_back("prefix", request.prefix);
  if (!request.key_marker.empty()) {
    wire.query.emplace_back("key-marker", request.key_marker);
    // S3 ignores it without a key marker.
    if (!request.upload_id_marker.empty())
      wire.query.emplace_back("upload-id-marker", request.upload_id_marker);
  }
  return wire;
}

Result<ListMultipartUploadsResponse> ParseResponse(const ListMultipartUploadsRequest& request,
                                                   const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "ListMultipartUploadsResult"));
  const XmlElement root = document.root();
  const NameDecoder names(root);
  ListMultipartUploadsResponse out;
  for (const XmlElement& element : root.Children("Upload")) {
    UploadSummary upload;
    PENSTOCK_ASSIGN(upload.key.value, names.Decode(element.Child("Key").text()));
    upload.upload_id = UploadId(element.Child("UploadId").text());
    upload.initiated = ReadTime(element, "Initiated");
    out.uploads.push_back(std::move(upload));
  }
  PENSTOCK_ASSIGN(const std::optional<bool> truncated, TruncatedOf(root));
  PENSTOCK_ASSIGN(std::string key, names.Decode(root.Child("NextKeyMarker").text()));
  std::string upload_id = root.Child("NextUploadIdMarker").text();
  const bool repeats = key == request.key_marker && upload_id == request.upload_id_marker;
  if (HasNextPage(truncated, !key.empty(), repeats)) {
    if (key.empty()) return NoMarker("NextKeyMarker");
    out.next_key_marker = std::move(key);
    out.next_upload_id_marker = std::move(upload_id);
  }
  return out;
}

}  // namespace penstock::s3
