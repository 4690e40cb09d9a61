// GetBucketAcl, GetObjectAcl, PutBucketAcl and PutObjectAcl.
#include "emulator/s3/access/acl.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

// Reads the ACL from the headers or from the document. The request must have exactly one of them.
Result<Element> ReadAcl(Call& call, AclResource resource, const AclOwners& owners) {
  const bool headers = HasAclHeaders(call);
  const auto length = call.exchange.body->Length();
  PENSTOCK_ASSIGN(const std::string text,
                  ReadDocument(call, {.require_checksum = !length || *length > 0}));
  if (headers && !text.empty()) return MakeError("UnexpectedContent");
  if (headers) return ReadAclHeaders(call, resource, owners);
  if (text.empty()) return MakeError("MissingSecurityHeader", {{"MissingHeaderName", "x-amz-acl"}});
  return ReadAclDocument(text, owners);
}

// Recorded against Amazon S3: called once the arguments have been checked.
Result<void> RequireAcls(const store::BucketRecord& bucket) {
  if (OwnershipOf(bucket) != kBucketOwnerEnforced) return Ok();
  return MakeError("AccessControlListNotSupported");
}

}  // namespace

Result<void> GetAcl(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const bool enforced = OwnershipOf(*bucket) == kBucketOwnerEnforced;
  if (call.key().empty()) {
    const std::string* stored = FindConfiguration(*bucket, kAclKey);
    call.RespondXml(
        AclDocument(stored == nullptr || enforced ? std::string_view() : std::string_view(*stored),
                    bucket->owner_id));
    return Ok();
  }
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  AddVersionHeader(call, *bucket, *object);
  call.RespondXml(enforced ? AclDocument({}, bucket->owner_id)
                           : AclDocument(StoredObjectAcl(*object), object->owner_id));
  return Ok();
}

Result<void> PutAcl(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  if (call.key().empty()) {
    PENSTOCK_ASSIGN(const Element acl,
                    ReadAcl(call, AclResource::kBucket, {bucket->owner_id, bucket->owner_id}));
    PENSTOCK_TRY(RequireAcls(*bucket));
    PENSTOCK_TRY(RefuseBlockedAcl(*bucket, acl));
    return call.store.SetConfiguration(bucket->name, std::string(kAclKey), StoredAcl(acl));
  }
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version, LatestMarker::kRefused));
  PENSTOCK_ASSIGN(const Element acl,
                  ReadAcl(call, AclResource::kObject, {object->owner_id, bucket->owner_id}));
  PENSTOCK_TRY(RequireAcls(*bucket));
  PENSTOCK_TRY(RefuseBlockedAcl(*bucket, acl));
  PENSTOCK_TRY(call.store.SetAttribute(call.bucket(), call.key(), version,
                                       std::string(kObjectAclAttribute), StoredAcl(acl)));
  AddVersionHeader(call, *bucket, *object);
  return Ok();
}

}  // namespace penstock::emulator::s3
