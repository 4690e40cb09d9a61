#include "client/s3/verbs/list_directory_buckets.h"

#include <string>
#include <utility>

#include "client/s3/document.h"
#include "client/s3/request_start.h"

namespace penstock::s3 {

Result<WireRequest> BuildRequest(const ListDirectoryBucketsRequest& request,
                                 const BuildContext& context) {
  if (request.max_buckets < 0 || request.max_buckets > 1000) {
    return InvalidRequest("max_buckets must be 0 to 1000, not " +
                          std::to_string(request.max_buckets));
  }
  WireRequest wire = StartServiceRequest(Operation::kListDirectoryBuckets, context);
  // Always set: an endpoint that also serves ListBuckets distinguishes the two operations by it.
  wire.query = {{"max-directory-buckets", std::to_string(request.max_buckets)}};
  if (!request.continuation_token.empty())
    wire.query.emplace_back("continuation-token", request.continuation_token);
  return wire;
}

Result<ListDirectoryBucketsResponse> ParseResponse(const ListDirectoryBucketsRequest&,
                                                   const WireResponse& response) {
  PENSTOCK_ASSIGN(
      const XmlDocument document,
      ReadDocument(response, "ListAllMyDirectoryBucketsResult", "ListDirectoryBucketsOutput"));
  ListDirectoryBucketsResponse out;
  for (const XmlElement& element : document.root().Child("Buckets").Children("Bucket")) {
    out.buckets.push_back(
        {BucketName(element.Child("Name").text()), ReadTime(element, "CreationDate")});
  }
  out.next_token = document.root().Child("ContinuationToken").text();
  return out;
}

}  // namespace penstock::s3
