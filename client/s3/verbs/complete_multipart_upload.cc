#include "client/s3/verbs/complete_multipart_upload.h"

#include <string>
#include <utility>

#include "base/crc/named_crc.h"
#include "base/xml/xml.h"
#include "client/s3/body_checksum.h"
#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {
namespace {

Result<void> CheckParts(const std::vector<CompletedPart>& parts) {
  if (parts.empty()) return InvalidRequest("CompleteMultipartUpload needs at least one part");
  int previous = 0;
  for (const CompletedPart& part : parts) {
    PENSTOCK_TRY(CheckPartNumber(part.part_number));
    if (part.part_number <= previous) {
      return InvalidRequest("part " + std::to_string(part.part_number) + " follows part " +
                            std::to_string(previous) + "; parts must be in ascending order");
    }
    if (part.etag.empty())
      return InvalidRequest("part " + std::to_string(part.part_number) + " has no ETag");
    previous = part.part_number;
  }
  return Ok();
}

std::string PartsDocument(const std::vector<CompletedPart>& parts) {
  XmlWriter xml;
  xml.Open("CompleteMultipartUpload", kXmlNamespace);
  for (const CompletedPart& part : parts) {
    xml.Open("Part");
    xml.Element("PartNumber", std::to_string(part.part_number));
    xml.Element("ETag", QuoteETag(part.etag));
    if (!part.checksum_crc64nvme.empty()) xml.Element("ChecksumCRC64NVME", part.checksum_crc64nvme);
    xml.Close("Part");
  }
  xml.Close("CompleteMultipartUpload");
  return xml.Take();
}

}  // namespace

Result<WireRequest> BuildRequest(const CompleteMultipartUploadRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_TRY(CheckUploadId(request.upload_id));
  PENSTOCK_TRY(CheckParts(request.parts));
  if (request.if_match && request.if_none_match_any) {
    return InvalidRequest(
        "CompleteMultipartUpload takes either if_match or if_none_match_any, not both");
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kCompleteMultipartUpload,
                                                       request.bucket, request.key, context));
  wire.query.emplace_back("uploadId", request.upload_id.value);
  wire.headers.push_back({"Content-Type", "application/xml"});
  if (context.upload_checksums) {
    if (request.crc64nvme) {
      wire.headers.push_back({kCrc64NvmeHeader, CrcText(Crc::kCrc64Nvme, *request.crc64nvme)});
    }
    wire.headers.push_back({"x-amz-checksum-type", "FULL_OBJECT"});
  }
  wire.headers.push_back({"x-amz-mp-object-size", std::to_string(request.object_size)});
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (request.if_none_match_any) wire.headers.push_back({"If-None-Match", "*"});
  wire.document = PartsDocument(request.parts);
  return wire;
}

Result<PutObjectResponse> ParseResponse(const CompleteMultipartUploadRequest&,
                                        const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document,
                  ReadDocument(response, "CompleteMultipartUploadResult"));
  PutObjectResponse out;
  out.etag = ReadETag(document.root().Child("ETag").text());
  out.version_id =
      VersionId(std::string(response.head.Find("x-amz-version-id").value_or(std::string_view{})));
  return out;
}

}  // namespace penstock::s3
