// GetBucketPolicy, PutBucketPolicy, DeleteBucketPolicy and GetBucketPolicyStatus.
#include "emulator/s3/access/acl.h"
#include "emulator/s3/access/policy.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

Result<std::string> StoredPolicy(const store::BucketRecord& bucket) {
  const std::string* policy = FindConfiguration(bucket, kPolicyKey);
  if (policy != nullptr) return *policy;
  return MakeError("NoSuchBucketPolicy", {{"BucketName", bucket.name.value}});
}

}  // namespace

Result<void> GetBucketPolicy(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(std::string policy, StoredPolicy(*bucket));
  call.response().Add("Content-Type", "application/json");
  call.response().body = std::move(policy);
  return Ok();
}

Result<void> PutBucketPolicy(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(std::string text, ReadDocument(call, {.require_checksum = true}));
  PENSTOCK_TRY(CheckPolicy(text, bucket->name.value));
  if (PublicAccessBlockOf(*bucket).block_policy && IsPublicPolicy(text))
    return MakeError("AccessDenied");
  PENSTOCK_TRY(call.store.SetConfiguration(bucket->name, kPolicyKey, std::move(text)));
  call.response().status = 204;
  return Ok();
}

Result<void> DeleteBucketPolicy(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_TRY(call.store.SetConfiguration(bucket->name, kPolicyKey, std::nullopt));
  call.response().status = 204;
  return Ok();
}

Result<void> GetBucketPolicyStatus(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const std::string policy, StoredPolicy(*bucket));
  XmlWriter xml;
  xml.Open("PolicyStatus", kXmlNamespace);
  WriteFlag(xml, "IsPublic", IsPublicPolicy(policy));
  xml.Close("PolicyStatus");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
