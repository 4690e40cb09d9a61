#include "client/s3/verbs/upload_part_copy.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const UploadPartCopyRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_TRY(CheckPartNumber(request.part_number));
  PENSTOCK_ASSIGN(std::string source,
                  CopySource(request.source_bucket, request.source_key, request.source_version_id));
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kUploadPartCopy, request.bucket,
                                                       request.key, context));
  wire.query = {{"partNumber", std::to_string(request.part_number)},
                {"uploadId", request.upload_id.value}};
  wire.headers.push_back({"x-amz-copy-source", std::move(source)});
  if (request.source_range) {
    const RangeRequest range{request.source_range->begin, request.source_range->end, std::nullopt};
    PENSTOCK_ASSIGN(std::string text, FormatRange(range));
    wire.headers.push_back({"x-amz-copy-source-range", std::move(text)});
  }
  if (request.source_if_match) {
    wire.headers.push_back({"x-amz-copy-source-if-match", QuoteETag(*request.source_if_match)});
  }
  return wire;
}

Result<CompletedPart> ParseResponse(const UploadPartCopyRequest& request,
                                    const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "CopyPartResult"));
  CompletedPart part;
  part.part_number = request.part_number;
  part.etag = ReadETag(document.root().Child("ETag").text());
  part.checksum_crc64nvme = document.root().Child("ChecksumCRC64NVME").text();
  if (part.etag.empty())
    return Error::Make(ErrorKind::kUnavailable, "the response has no ETag for the part");
  return part;
}

}  // namespace penstock::s3
