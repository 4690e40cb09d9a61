// CreateBucket for directory buckets.
#include <algorithm>
#include <string>

#include "emulator/s3/access/acl.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/tags.h"

namespace penstock::emulator::s3 {
namespace {

struct ZoneKind {
  std::string_view type;
  std::string_view redundancy;
};
constexpr ZoneKind kAvailabilityZone{"AvailabilityZone", "SingleAvailabilityZone"};
constexpr ZoneKind kLocalZone{"LocalZone", "SingleLocalZone"};

// Recorded against Amazon S3: a document that does not describe a directory bucket is malformed,
// including one for a general purpose bucket.
Result<Element> ReadDirectoryDocument(Call& call) {
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {}));
  if (text.empty()) return MalformedXml();
  PENSTOCK_ASSIGN(Element root, ReadBySchema(text, kCreateBucketSchema));
  const Element* const location = root.Find("Location");
  const Element* const bucket = root.Find("Bucket");
  if (location == nullptr || bucket == nullptr || root.Has("LocationConstraint"))
    return MalformedXml();
  if (location->TextOf("Name").empty() || bucket->TextOf("Type") != "Directory")
    return MalformedXml();
  return root;
}

Result<void> CheckZone(const Call& call, const Element& root) {
  const std::string& name = call.bucket().value;
  const std::string_view zone = *ZoneOf(name);
  const Element& location = *root.Find("Location");
  if (location.TextOf("Name") != zone) {
    return MakeError("InvalidBucketName", {{"BucketName", name}},
                     "The specified bucket is not valid: the zone in its name is " +
                         std::string(zone) + ", but Location.Name is " +
                         std::string(location.TextOf("Name")) + "; they must be the same");
  }
  const ZoneKind& kind = IsLocalZone(zone) ? kLocalZone : kAvailabilityZone;
  if (location.TextOf("Type") != kind.type) {
    return InvalidRequest("The zone " + std::string(zone) + " is of type " +
                          std::string(kind.type) + ", not '" +
                          std::string(location.TextOf("Type")) + "'");
  }
  const std::string_view redundancy = root.Find("Bucket")->TextOf("DataRedundancy");
  if (redundancy.empty() || redundancy == kind.redundancy) return Ok();
  return InvalidRequest("The data redundancy of a directory bucket in a zone of type " +
                        std::string(kind.type) + " is " + std::string(kind.redundancy) + ", not '" +
                        std::string(redundancy) + "'");
}

Result<void> AddTags(Element& root, store::BucketRecord& record) {
  Element* const tags = root.Find("Tags");
  if (tags == nullptr || tags->children.empty()) return Ok();
  tags->name = "TagSet";
  Element tagging;
  tagging.name = "Tagging";
  tagging.children.push_back(std::move(*tags));
  PENSTOCK_TRY(CheckBucketTags(TagsOf(&tagging.children.front()), BucketTagging::kCreateBucket));
  record.configuration.emplace_back("tagging", WriteDocument(tagging, Prolog::kNo));
  return Ok();
}

Result<void> CheckQuota(Call& call, std::string_view region) {
  PENSTOCK_ASSIGN(const auto all, call.store.ListBuckets());
  const auto owned = std::count_if(all.begin(), all.end(), [&](const store::BucketPtr& bucket) {
    return IsDirectoryBucketName(bucket->name.value) &&
           bucket->owner_id == call.exchange.identity.owner_id &&
           RegionOfConstraint(bucket->region) == region;
  });
  if (static_cast<std::size_t>(owned) < call.options.max_directory_buckets_per_region) return Ok();
  return MakeError("TooManyBuckets");
}

Error AlreadyExists(const Call& call, const store::BucketRecord& existing) {
  const bool owned = existing.owner_id == call.exchange.identity.owner_id;
  return MakeError(owned ? "BucketAlreadyOwnedByYou" : "BucketAlreadyExists",
                   {{"BucketName", existing.name.value}});
}

}  // namespace

Result<void> CreateDirectoryBucket(Call& call) {
  PENSTOCK_ASSIGN(Element root, ReadDirectoryDocument(call));
  PENSTOCK_TRY(CheckZone(call, root));
  PENSTOCK_TRY(AuthorizeWithBody(
      call, {{"s3express:locationname",
              policy::Context::Values{std::string(root.Find("Location")->TextOf("Name"))}}}));
  const std::string_view ownership =
      call.Header("x-amz-object-ownership").value_or(kBucketOwnerEnforced);
  if (ownership != kBucketOwnerEnforced) {
    return InvalidRequest(
        "The object ownership of a directory bucket is BucketOwnerEnforced, not '" +
        std::string(ownership) + "'");
  }
  store::BucketRecord record;
  record.name = call.bucket();
  record.owner_id = call.exchange.identity.owner_id;
  record.region = EndpointRegion(call.exchange, call.options.region);
  record.created = call.exchange.space->clock->Now();
  record.configuration.emplace_back(kLocationTypeKey, root.Find("Location")->TextOf("Type"));
  PENSTOCK_TRY(AddTags(root, record));
  if (const auto existing = call.store.FindBucket(call.bucket()); existing.ok())
    return AlreadyExists(call, **existing);
  PENSTOCK_TRY(CheckQuota(call, record.region));
  const std::string location = "https://" + DirectoryHostName(record) + "/";
  const std::string arn = BucketArn(call, record);
  if (const auto created = call.store.CreateBucket(std::move(record)); !created.ok()) {
    // A concurrent request created the bucket.
    const auto existing = call.store.FindBucket(call.bucket());
    if (existing.ok()) return AlreadyExists(call, **existing);
    return created.error();
  }
  call.response().Add("Location", location);
  call.response().Add("x-amz-bucket-arn", arn);
  return Ok();
}

}  // namespace penstock::emulator::s3
