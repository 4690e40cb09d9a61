#include "client/s3/verbs/upload_part.h"

#include <string>
#include <utility>

#include "client/s3/body_checksum.h"
#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const UploadPartRequest& request, const BuildContext& context) {
  if (request.body == nullptr) return InvalidRequest("UploadPart needs a body");
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_TRY(CheckPartNumber(request.part_number));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kUploadPart, request.bucket, request.key, context));
  wire.query = {{"partNumber", std::to_string(request.part_number)},
                {"uploadId", request.upload_id.value}};
  if (context.upload_checksums && !request.body->FollowsChecksum()) {
    PENSTOCK_ASSIGN(std::string checksum, Crc64NvmeText(*request.body));
    wire.headers.push_back({kCrc64NvmeHeader, std::move(checksum)});
  }
  wire.source = request.body;
  return wire;
}

Result<CompletedPart> ParseResponse(const UploadPartRequest& request,
                                    const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  PENSTOCK_TRY(CheckNamesObject(response.head));
  CompletedPart part;
  part.part_number = request.part_number;
  part.etag = ReadETag(response.head.Find("etag").value_or(std::string_view{}));
  // Only a checksum that S3 confirmed may go into CompleteMultipartUpload, where a server without
  // CRC64NVME would reject it.
  part.checksum_crc64nvme = response.head.Find(kCrc64NvmeHeader).value_or(std::string_view{});
  return part;
}

}  // namespace penstock::s3
