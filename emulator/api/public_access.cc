#include "emulator/api/public_access.h"

#include "emulator/api/acl.h"
#include "emulator/api/errors.h"
#include "emulator/api/sub_resources.h"

namespace penstock::emulator::api {

PublicAccessBlock PublicAccessBlockOf(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, "publicAccessBlock");
  if (document == nullptr) return {};
  const auto set = [&](std::string_view flag) {
    return document->find("<" + std::string(flag) + ">true<") != std::string::npos;
  };
  return {set("BlockPublicAcls"), set("IgnorePublicAcls"), set("BlockPublicPolicy"), set("RestrictPublicBuckets")};
}

Result<void> RefuseBlockedAcl(const store::BucketRecord& bucket, const Element& acl) {
  if (!IsPublicAcl(acl) || !PublicAccessBlockOf(bucket).block_acls) return Ok();
  return MakeError("AccessDenied");
}

}  // namespace penstock::emulator::api
