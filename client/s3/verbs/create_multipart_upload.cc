#include "client/s3/verbs/create_multipart_upload.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const CreateMultipartUploadRequest& request,
                                 const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kCreateMultipartUpload,
                                                       request.bucket, request.key, context));
  wire.query.emplace_back("uploads", "");
  PENSTOCK_TRY(AppendAttributes(request.attributes, wire.headers));
  if (context.upload_checksums) {
    wire.headers.push_back({"x-amz-checksum-algorithm", "CRC64NVME"});
    wire.headers.push_back({"x-amz-checksum-type", "FULL_OBJECT"});
  }
  return wire;
}

Result<CreateMultipartUploadResponse> ParseResponse(const CreateMultipartUploadRequest&,
                                                    const WireResponse& response) {
  PENSTOCK_ASSIGN(
      const XmlDocument document,
      ReadDocument(response, "InitiateMultipartUploadResult", "InitiateMultipartUpload"));
  CreateMultipartUploadResponse out{UploadId(document.root().Child("UploadId").text())};
  // Only what S3 confirms: services without CRC64NVME do not return the header.
  out.keeps_crc64nvme = response.head.Find("x-amz-checksum-algorithm") == "CRC64NVME";
  if (out.upload_id.empty())
    return Error::Make(ErrorKind::kUnavailable, "the response has no UploadId");
  return out;
}

}  // namespace penstock::s3
