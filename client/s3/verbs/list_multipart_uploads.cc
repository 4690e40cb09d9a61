#include "client/s3/verbs/list_multipart_uploads.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

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

Result<ListMultipartUploadsResponse> ParseResponse(const ListMultipartUploadsRequest&,
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
  // S3 also sets the markers on the last page; they are valid only if the listing is truncated.
  if (ReadFlag(root, "IsTruncated")) {
    PENSTOCK_ASSIGN(out.next_key_marker, names.Decode(root.Child("NextKeyMarker").text()));
    out.next_upload_id_marker = root.Child("NextUploadIdMarker").text();
    if (out.next_key_marker.empty()) {
      return Error::Make(ErrorKind::kUnavailable,
                         "the listing is truncated, but has no NextKeyMarker");
    }
  }
  return out;
}

}  // namespace penstock::s3
