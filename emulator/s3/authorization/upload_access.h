// Who may use a multipart upload besides those whom policies allow (Amazon S3 User Guide,
// "Multipart upload API and permissions").
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_UPLOAD_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_UPLOAD_ACCESS_H_

#include <string>
#include <string_view>

#include "emulator/policy/evaluator.h"
#include "emulator/s3/core/call.h"

namespace penstock::emulator::s3 {

// The ARN of the user or the session that created the upload, or the canonical id of the account
// whose root did.
const std::string& InitiatorOf(const store::UploadRecord& upload);
// What UploadRecord::initiator is for an upload that the requester creates.
std::string InitiatorToRecord(const Identity& who, std::string_view owner_id);

// Returns what the requester has of `by_acl`, the grant of the bucket's ACL, for an action on the
// upload that the request names. A grant to write is for uploads of the own account. Initiators may
// list the parts of their uploads and abort them, and so may their accounts.
policy::AclGrant GrantForUpload(const Call& call, std::string_view action, policy::AclGrant by_acl);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_UPLOAD_ACCESS_H_
