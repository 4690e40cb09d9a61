#include "client/s3/verbs/list_buckets.h"

#include <utility>

#include "client/s3/document.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListBucketsRequest&, const BuildContext& context) {
  return StartServiceRequest(Operation::kListBuckets, context);
}

Result<ListBucketsResponse> ParseResponse(const ListBucketsRequest&, const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "ListAllMyBucketsResult"));
  ListBucketsResponse out;
  for (const XmlElement& element : document.root().Child("Buckets").Children("Bucket")) {
    out.buckets.push_back(
        {BucketName(element.Child("Name").text()), ReadTime(element, "CreationDate")});
  }
  return out;
}

}  // namespace penstock::s3
