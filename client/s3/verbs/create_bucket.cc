#include "client/s3/verbs/create_bucket.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "client/s3/document.h"
#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/request_start.h"
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

}  // namespace

Result<void> CheckNoAccessPoint(Operation operation, const BucketName& bucket) {
  if (!bucket.value.ends_with("--xa-s3")) return Ok();
  return InvalidRequest(
      "`" + bucket.value + "` is an access point, and " + std::string(Info(operation).name) +
      " accepts only the bucket itself (base--zone--x-s3); access points are created and "
      "deleted by S3 Control");
}

Result<WireRequest> BuildRequest(const CreateBucketRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckNoAccessPoint(Operation::kCreateBucket, request.bucket));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartBucketRequest(Operation::kCreateBucket, request.bucket, context));
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

Result<NoResponse> ParseResponse(const CreateBucketRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

}  // namespace penstock::s3
