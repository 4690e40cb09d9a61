#include "client/s3/verbs/put_object.h"

#include <string>
#include <utility>

#include "client/s3/body_checksum.h"
#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"
#include "client/s3/verbs/rename_object.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const PutObjectRequest& request, const BuildContext& context) {
  if (request.body == nullptr) return InvalidRequest("PutObject needs a body");
  if (request.if_match && request.if_none_match_any) {
    return InvalidRequest("PutObject takes either if_match or if_none_match_any, not both");
  }
  if (request.write_offset) {
    PENSTOCK_TRY(CheckDirectoryBucket("appending", request.bucket, "write a new object"));
  }
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kPutObject, request.bucket, request.key, context));
  PENSTOCK_TRY(AppendAttributes(request.attributes, wire.headers));
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (request.if_none_match_any) wire.headers.push_back({"If-None-Match", "*"});
  if (request.write_offset) {
    wire.headers.push_back({"x-amz-write-offset-bytes", std::to_string(*request.write_offset)});
  }
  if (request.checksum_algorithm == "crc32c" || request.checksum_algorithm == "crc32") {
    const Crc crc = request.checksum_algorithm == "crc32c" ? Crc::kCrc32c : Crc::kCrc32;
    PENSTOCK_ASSIGN(std::string checksum, ChecksumText(crc, *request.body));
    wire.headers.push_back({"x-amz-checksum-" + request.checksum_algorithm, std::move(checksum)});
  } else if (context.upload_checksums && request.checksum_algorithm != "none") {
    PENSTOCK_ASSIGN(std::string checksum, Crc64NvmeText(*request.body));
    wire.headers.push_back({kCrc64NvmeHeader, std::move(checksum)});
  }
  wire.source = request.body;
  return wire;
}

Result<PutObjectResponse> ParseResponse(const PutObjectRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  PENSTOCK_TRY(CheckNamesObject(response.head));
  ObjectMetadata metadata = ReadMetadata(response.head);
  PutObjectResponse out{std::move(metadata.etag), std::move(metadata.version_id), {}};
  if (const auto size = response.head.Find("x-amz-object-size")) {
    const auto number = ParseNumber("x-amz-object-size", *size);
    if (number.ok()) out.object_size = *number;
  }
  return out;
}

}  // namespace penstock::s3
