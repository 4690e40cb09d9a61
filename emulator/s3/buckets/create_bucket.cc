// CreateBucket.
#include <algorithm>
#include <optional>
#include <string>

#include "emulator/s3/access/acl.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/tags.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kUsEast1 = "us-east-1";

struct Document {
  std::string constraint;       // Empty: none.
  std::optional<Element> tags;  // <Tagging>
};

Result<Document> ReadCreateDocument(Call& call) {
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {}));
  Document document;
  if (text.empty()) return document;
  PENSTOCK_ASSIGN(Element root, ReadBySchema(text, kCreateBucketSchema));
  for (const std::string_view name : {"Location", "Bucket"}) {
    if (!root.Has(name)) continue;
    return NotImplemented(
        "The element '" + std::string(name) +
        "' of CreateBucketConfiguration is only for directory buckets, whose names "
        "end in --ZONE--x-s3; remove it");
  }
  document.constraint = root.TextOf("LocationConstraint");
  if (Element* tags = root.Find("Tags"); tags != nullptr && !tags->children.empty()) {
    tags->name = "TagSet";
    Element tagging;
    tagging.name = "Tagging";
    tagging.children.push_back(std::move(*tags));
    document.tags = std::move(tagging);
  }
  return document;
}

// Returns the region to store, from the endpoint's region and LocationConstraint. Errors recorded
// against Amazon S3.
Result<std::string> ChooseRegion(std::string_view endpoint_region, const std::string& constraint) {
  if (endpoint_region == kUsEast1) {
    if (constraint.empty()) return std::string(kUsEast1);
    if (constraint != kUsEast1 && IsAwsRegion(RegionOfConstraint(constraint))) return constraint;
    return MakeError("InvalidLocationConstraint", {{"LocationConstraint", constraint}});
  }
  if (RegionOfConstraint(constraint) == endpoint_region) return constraint;
  return MakeError("IllegalLocationConstraintException", {},
                   "The " + (constraint.empty() ? std::string("unspecified") : constraint) +
                       " location constraint is incompatible for the region specific endpoint this "
                       "request was sent "
                       "to.");
}

// Names that end in "-an" are reserved for one account and region, and require the namespace
// account-regional.
Result<void> CheckNamespace(const Call& call, std::string_view region) {
  const std::string_view requested = call.Header("x-amz-bucket-namespace").value_or("global");
  if (requested != "global" && requested != "account-regional") {
    return InvalidArgument("The bucket namespace must be global or account-regional",
                           "x-amz-bucket-namespace", requested);
  }
  const std::string ending =
      "-" + call.exchange.identity.account_id + "-" + std::string(region) + "-an";
  const std::string& name = call.bucket().value;
  const bool own = name.size() > ending.size() && name.ends_with(ending);
  if (requested == "account-regional" ? own : !name.ends_with("-an")) return Ok();
  return MakeError("InvalidBucketName", {{"BucketName", name}});
}

Result<void> ApplyOwnership(const Call& call, store::BucketRecord& record) {
  const std::string_view ownership =
      call.Header("x-amz-object-ownership").value_or(kBucketOwnerEnforced);
  if (ownership != kBucketOwnerEnforced && ownership != "BucketOwnerPreferred" &&
      ownership != "ObjectWriter") {
    return MakeError("InvalidArgument", {{"ArgumentName", "x-amz-object-ownership"}},
                     "Invalid x-amz-object-ownership header: " + std::string(ownership));
  }
  if (ownership != kBucketOwnerEnforced) {
    Element rule{"Rule", {}, {}, {Element{"ObjectOwnership", std::string(ownership), {}, {}}}};
    record.configuration.emplace_back(
        kOwnershipKey, WriteDocument({"OwnershipControls", {}, {}, {rule}}, Prolog::kNo));
  }
  if (!HasAclHeaders(call)) return Ok();
  PENSTOCK_ASSIGN(const Element acl,
                  ReadAclHeaders(call, AclResource::kBucket, {record.owner_id, record.owner_id}));
  if (IsPrivateAcl(acl)) return Ok();
  if (ownership == kBucketOwnerEnforced) return MakeError("InvalidBucketAclWithObjectOwnership");
  if (IsPublicAcl(acl) && PublicAccessBlockOf(record).block_acls)
    return MakeError("InvalidBucketAclWithBlockPublicAccessError");
  record.configuration.emplace_back(kAclKey, StoredAcl(acl));
  return Ok();
}

Result<void> ApplyObjectLock(const Call& call, store::BucketRecord& record) {
  const std::string_view lock = call.Header("x-amz-bucket-object-lock-enabled").value_or("false");
  if (EqualsIgnoreCase(lock, "false")) return Ok();
  if (!EqualsIgnoreCase(lock, "true")) {
    return InvalidArgument("x-amz-bucket-object-lock-enabled must be true or false",
                           "x-amz-bucket-object-lock-enabled", lock);
  }
  record.versioning = store::Versioning::kEnabled;
  const Element enabled{"ObjectLockEnabled", "Enabled", {}, {}};
  record.configuration.emplace_back(
      kObjectLockKey, WriteDocument({"ObjectLockConfiguration", {}, {}, {enabled}}, Prolog::kNo));
  return Ok();
}

// Handles CreateBucket for an existing bucket. A bucket of the same account is unchanged in
// us-east-1; elsewhere, or with tags, it is a conflict.
Result<void> RespondToExisting(Call& call, std::string_view endpoint_region, bool with_tags) {
  PENSTOCK_ASSIGN(const store::BucketPtr existing, call.store.FindBucket(call.bucket()));
  const std::string& name = existing->name.value;
  if (existing->owner_id != call.exchange.identity.owner_id)
    return MakeError("BucketAlreadyExists", {{"BucketName", name}});
  if (endpoint_region != kUsEast1 || existing->region != kUsEast1 || with_tags) {
    return MakeError("BucketAlreadyOwnedByYou", {{"BucketName", name}});
  }
  call.response().Add("Location", "/" + name);
  call.response().Add("x-amz-bucket-arn", "arn:aws:s3:::" + name);
  return Ok();
}

Result<store::BucketRecord> MakeBucket(Call& call, const Document& document,
                                       std::string_view endpoint_region) {
  store::BucketRecord record;
  PENSTOCK_ASSIGN(record.region, ChooseRegion(endpoint_region, document.constraint));
  PENSTOCK_TRY(CheckNamespace(call, RegionOfConstraint(record.region)));
  record.name = call.bucket();
  record.owner_id = call.exchange.identity.owner_id;
  record.created = call.exchange.space->clock->Now();
  PENSTOCK_TRY(ApplyOwnership(call, record));
  PENSTOCK_TRY(ApplyObjectLock(call, record));
  if (document.tags) {
    PENSTOCK_TRY(
        CheckBucketTags(TagsOf(document.tags->Find("TagSet")), BucketTagging::kCreateBucket));
    record.configuration.emplace_back("tagging", WriteDocument(*document.tags, Prolog::kNo));
  }
  return record;
}

}  // namespace

Result<void> CreateBucket(Call& call) {
  if (IsDirectoryBucketName(call.bucket().value)) return CreateDirectoryBucket(call);
  const std::string_view endpoint_region = EndpointRegion(call.exchange, call.options.region);
  PENSTOCK_ASSIGN(const Document document, ReadCreateDocument(call));
  BodyKeys keys;
  if (!document.constraint.empty())
    keys.emplace_back("s3:locationconstraint", policy::Context::Values{document.constraint});
  PENSTOCK_TRY(AuthorizeWithBody(call, keys));
  PENSTOCK_ASSIGN(store::BucketRecord record, MakeBucket(call, document, endpoint_region));
  if (call.store.FindBucket(call.bucket()).ok())
    return RespondToExisting(call, endpoint_region, document.tags.has_value());
  const auto created =
      call.store.CreateBucket(std::move(record), call.options.max_buckets_per_account);
  if (!created.ok()) {  // A concurrent request created the bucket.
    const std::string& code = created.error().code;
    if (code == "TooManyBuckets") return MakeError(code);
    if (code != "BucketAlreadyOwnedByYou" && code != "BucketAlreadyExists") return created.error();
    return RespondToExisting(call, endpoint_region, document.tags.has_value());
  }
  const std::string& name = call.bucket().value;
  call.response().Add("Location", document.constraint.empty()
                                      ? "/" + name
                                      : "http://" + name + ".s3.amazonaws.com/");
  call.response().Add("x-amz-bucket-arn", "arn:aws:s3:::" + name);
  return Ok();
}

}  // namespace penstock::emulator::s3
