#include "emulator/s3/core/access.h"

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {

Result<void> Authorize(const Identity& who, const store::BucketRecord& bucket) {
  PENSTOCK_TRY(RequireAccount(who));
  if (who.session && !who.session->bucket.empty() && who.session->bucket != bucket.name.value)
    return MakeError("AccessDenied");
  if (who.owner_id == bucket.owner_id) return Ok();
  return MakeError("AccessDenied");
}

Result<void> RequireAccount(const Identity& who) {
  if (!who.owner_id.empty()) return Ok();
  return MakeError("AccessDenied");
}

}  // namespace penstock::emulator::s3
