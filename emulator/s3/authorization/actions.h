// The permissions that each operation needs (Amazon S3 User Guide, "Required permissions for Amazon
// S3 API operations"; Service Authorization Reference).
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_ACTIONS_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_ACTIONS_H_

#include <string_view>
#include <vector>

#include "emulator/s3/core/call.h"

namespace penstock::emulator::s3 {

// Up to this many actions belong to one operation on one resource.
using RequiredActions = std::vector<std::string_view>;

// Returns the actions of the request's operation, the main one first. Empty: the operation decides
// itself (DeleteObjects, one entry at a time), or needs no permission. `call.opened` may be null.
RequiredActions ActionsOf(const Call& call);

// s3:GetObject, or s3:GetObjectVersion if the request names a version.
std::string_view ReadAction(bool names_version);
std::string_view DeleteAction(bool names_version);

// Whether the operation's actions depend on its body. Its handler then authorizes it.
bool AuthorizesLate(std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_ACTIONS_H_
