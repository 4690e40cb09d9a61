// DeleteObject.
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/write_later.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

using Outcome = Result<store::DeleteOutcome>;

Result<void> Respond(Call& call, const std::optional<VersionId>& version, Outcome outcome) {
  if (!outcome.ok()) return std::move(outcome).error();
  // Deleting an absent version succeeds, unless the store never issued its id.
  if (version && !outcome->existed && !store::IsIssued(*version))
    return NoSuchVersion(call.key(), *version);
  Response& response = call.response();
  response.status = 204;
  if (outcome->created_marker || outcome->removed_marker)
    response.Add("x-amz-delete-marker", "true");
  if (!outcome->version_id.empty()) response.Add("x-amz-version-id", outcome->version_id.value);
  return Ok();
}

}  // namespace

Result<void> DeleteObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const WriteCondition condition,
                  IsDirectoryBucket(*bucket) ? ReadDirectoryDelete(call)
                                             : ReadWriteCondition(call, {.allow_any = true}));
  store::DeleteObject request{bucket->name, call.key(), version,
                              MakePrecondition(condition, call.key()), RemovalCheck(call)};
  return WriteThenRespond<store::DeleteOutcome>(
      call,
      [&](auto... later) { return call.store.Delete(std::move(request), std::move(later)...); },
      [version](Call& committed, Outcome outcome) {
        return Respond(committed, version, std::move(outcome));
      });
}

}  // namespace penstock::emulator::s3
