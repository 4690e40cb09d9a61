#include "emulator/s3/authorization/upload_access.h"

#include "emulator/policy/pattern.h"
#include "emulator/s3/access/acl.h"

namespace penstock::emulator::s3 {
namespace {

using policy::AclGrant;

std::string_view CanonicalIdOf(const Identity& who) {
  return who.owner_id.empty() ? kAnonymousOwner : std::string_view(who.owner_id);
}

bool IsOfAccount(const std::string& initiator, const Identity& who) {
  const auto parts = policy::SplitArn(initiator);
  return parts ? (*parts)[4] == who.account_id : initiator == CanonicalIdOf(who);
}

}  // namespace

const std::string& InitiatorOf(const store::UploadRecord& upload) {
  return upload.initiator.empty() ? upload.owner_id : upload.initiator;
}

std::string InitiatorToRecord(const Identity& who, std::string_view owner_id) {
  if (!who.user_name.empty()) return who.arn;
  const std::string_view id = CanonicalIdOf(who);
  return id == owner_id ? std::string() : std::string(id);
}

AclGrant GrantForUpload(const Call& call, std::string_view action, AclGrant by_acl) {
  const bool writes = action == "s3:PutObject" && by_acl != AclGrant::kNone;
  const bool manages =
      action == "s3:AbortMultipartUpload" || action == "s3:ListMultipartUploadParts";
  const auto id = call.Query("uploadId");
  if (!id || (!writes && !manages)) return by_acl;
  const auto upload = call.store.FindUpload(call.bucket(), call.key(), UploadId(std::string(*id)));
  if (!upload.ok()) return by_acl;
  const Identity& who = call.exchange.identity;
  const std::string& initiator = InitiatorOf(**upload);
  if (!IsOfAccount(initiator, who)) return AclGrant::kNone;
  if (writes) return by_acl;
  if (who.anonymous()) return AclGrant::kNone;
  return who.user_name.empty() || initiator == who.arn ? AclGrant::kToInitiator
                                                       : AclGrant::kToAccount;
}

}  // namespace penstock::emulator::s3
