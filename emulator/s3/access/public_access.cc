#include "emulator/s3/access/public_access.h"

#include "emulator/s3/access/acl.h"
#include "emulator/s3/config/sub_resources.h"
#include "emulator/s3/core/errors.h"

namespace penstock::emulator::s3 {

PublicAccessBlock PublicAccessBlockOf(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, "publicAccessBlock");
  if (document == nullptr) return {};
  const auto set = [&](std::string_view flag) {
    return document->find("<" + std::string(flag) + ">true<") != std::string::npos;
  };
  return {set("BlockPublicAcls"), set("IgnorePublicAcls"), set("BlockPublicPolicy"),
          set("RestrictPublicBuckets")};
}

Result<void> RefuseBlockedAcl(const store::BucketRecord& bucket, const Element& acl) {
  if (!IsPublicAcl(acl) || !PublicAccessBlockOf(bucket).block_acls) return Ok();
  return MakeError("AccessDenied");
}

}  // namespace penstock::emulator::s3
