// Object Lock on objects: what S3 answers while nothing is locked (spec/protocol.md §2.2). The bucket's own configuration
// is a row of sub_resources.cc.
#include "emulator/api/errors.h"
#include "emulator/api/handlers.h"
#include "emulator/api/sub_resources.h"

namespace penstock::emulator::api {

Result<void> GetObjectLockState(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_TRY(OpenObject(call, version));
  if (FindConfiguration(*bucket, "object-lock") == nullptr) {
    return InvalidRequest("Bucket is missing Object Lock Configuration");
  }
  if (call.exchange.request.method == "GET") return MakeError("NoSuchObjectLockConfiguration");
  return NotImplemented(call.exchange.operation + " is not implemented by this emulator");
}

}  // namespace penstock::emulator::api
