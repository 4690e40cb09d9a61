#include "client/s3/verbs/verbs.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/xml/xml.h"
#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
namespace {

// "usw2-lax1-az1" is a Local Zone, "usw2-az1" an Availability Zone.
bool IsLocalZone(std::string_view zone) { return std::count(zone.begin(), zone.end(), '-') > 1; }

// The configuration of a directory bucket, all of which follows from its name.
Result<std::string> DirectoryBucketDocument(const std::string& bucket) {
  const std::string_view zone = ZoneOfBucket(bucket);
  if (zone.empty()) {
    return InvalidRequest(
        "Unrecognized S3Express bucket name format. `" + bucket +
        "` contains no zone id; use base--zone--x-s3, as in name--usw2-az1--x-s3");
  }
  XmlWriter xml;
  xml.Open("CreateBucketConfiguration", kXmlNamespace);
  xml.Open("Location");
  xml.Element("Type", IsLocalZone(zone) ? "LocalZone" : "AvailabilityZone");
  xml.Element("Name", zone);
  xml.Close("Location");
  xml.Open("Bucket");
  xml.Element("Type", "Directory");
  xml.Element("DataRedundancy", IsLocalZone(zone) ? "SingleLocalZone" : "SingleAvailabilityZone");
  xml.Close("Bucket");
  xml.Close("CreateBucketConfiguration");
  return xml.Take();
}

Result<void> CheckNoAccessPoint(Operation operation, const BucketName& bucket) {
  if (!bucket.value.ends_with("--xa-s3")) return Ok();
  return InvalidRequest(
      "`" + bucket.value + "` is an access point, and " + std::string(Info(operation).name) +
      " accepts only the bucket itself (base--zone--x-s3); access points are created and "
      "deleted by S3 Control");
}

}  // namespace

Result<WireRequest> BuildRequest(const CreateBucketRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckNoAccessPoint(Operation::kCreateBucket, request.bucket));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kCreateBucket, request.bucket, context));
  if (!request.acl.empty() || !request.grants.empty())
    PENSTOCK_TRY(AppendAcl(request.acl, request.grants, wire));
  if (request.object_lock_enabled)
    wire.headers.push_back({"x-amz-bucket-object-lock-enabled", "true"});
  PENSTOCK_TRY(AppendText("x-amz-object-ownership", request.object_ownership, wire.headers));
  if (IsDirectoryBucket(request.bucket.value)) {
    PENSTOCK_ASSIGN(wire.document, DirectoryBucketDocument(request.bucket.value));
    wire.headers.push_back({"Content-Type", "application/xml"});
    return wire;
  }
  // us-east-1 is the default, and S3 rejects it as LocationConstraint ("CreateBucket", Amazon S3
  // API Reference).
  if (context.region == "us-east-1" || context.region == "aws-global") return wire;
  XmlWriter xml;
  xml.Open("CreateBucketConfiguration", kXmlNamespace);
  xml.Element("LocationConstraint", context.region);
  xml.Close("CreateBucketConfiguration");
  wire.document = xml.Take();
  wire.headers.push_back({"Content-Type", "application/xml"});
  return wire;
}

Result<WireRequest> BuildRequest(const HeadBucketRequest& request, const BuildContext& context) {
  return StartBucketRequest(Operation::kHeadBucket, request.bucket, context);
}

Result<HeadBucketResponse> ParseResponse(const HeadBucketRequest&, const WireResponse& response) {
  return HeadBucketResponse{
      std::string(response.head.Find("x-amz-bucket-region").value_or(std::string_view{}))};
}

Result<WireRequest> BuildRequest(const DeleteBucketRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckNoAccessPoint(Operation::kDeleteBucket, request.bucket));
  return StartBucketRequest(Operation::kDeleteBucket, request.bucket, context);
}

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
