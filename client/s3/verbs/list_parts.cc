#include "client/s3/verbs/list_parts.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

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

}  // namespace

Result<WireRequest> BuildRequest(const ListPartsRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kListParts, request.bucket, request.key, context));
  wire.query.emplace_back("uploadId", request.upload_id.value);
  if (request.part_number_marker > 0) {
    wire.query.emplace_back("part-number-marker", std::to_string(request.part_number_marker));
  }
  return wire;
}

Result<ListPartsResponse> ParseResponse(const ListPartsRequest&, const WireResponse& response) {
  // moto 5 returns <ListPartsResponse>.
  PENSTOCK_ASSIGN(const XmlDocument document,
                  ReadDocument(response, "ListPartsResult", "ListPartsResponse"));
  const XmlElement root = document.root();
  ListPartsResponse out;
  for (const XmlElement& element : root.Children("Part")) {
    PartSummary part;
    PENSTOCK_ASSIGN(part.part_number, ReadPartNumber(element, "PartNumber"));
    PENSTOCK_ASSIGN(part.size, ReadNumber(element, "Size"));
    part.etag = ReadETag(element.Child("ETag").text());
    out.parts.push_back(std::move(part));
  }
  if (ReadFlag(root, "IsTruncated")) {
    PENSTOCK_ASSIGN(out.next_part_number_marker, ReadPartNumber(root, "NextPartNumberMarker"));
  }
  return out;
}

}  // namespace penstock::s3
