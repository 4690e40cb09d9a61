#include "client/s3/verbs/create_bucket.h"

#include "base/xml.h"
#include "client/s3/document.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const CreateBucketRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire, StartBucketRequest(Operation::kCreateBucket, request.bucket, context));
  // us-east-1 is what S3 assumes and refuses to be told (spec/protocol.md §2.1).
  if (context.region == "us-east-1" || context.region == "aws-global") return wire;
  XmlWriter xml;
  xml.Open("CreateBucketConfiguration", kXmlNamespace);
  xml.Element("LocationConstraint", context.region);
  xml.Close("CreateBucketConfiguration");
  wire.document = xml.Take();
  wire.headers.push_back({"Content-Type", "application/xml"});
  return wire;
}

Result<NoResponse> ParseResponse(const CreateBucketRequest&, const WireResponse&) { return NoResponse{}; }

}  // namespace penstock::s3
