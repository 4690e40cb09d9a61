// GetObjectTagging, PutObjectTagging, DeleteObjectTagging (spec/protocol.md §2.17).
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/errors.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/objects/tags.h"

namespace penstock::emulator::s3 {
namespace {

struct Tagged {
  store::BucketPtr bucket;
  std::optional<VersionId> version;
  store::ObjectPtr object;
};

Result<Tagged> OpenTagged(Call& call) {
  Tagged tagged;
  PENSTOCK_ASSIGN(tagged.bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(tagged.version, VersionParameter(call));
  PENSTOCK_ASSIGN(tagged.object, OpenObject(call, tagged.version, LatestMarker::kRefused));
  return tagged;
}

// As recorded: of the three operations, only the read names the missing key with its bucket.
Error NameBucket(const Call& call, Error error) {
  if (error.code != "NoSuchKey") return error;
  return NoSuchKey(call.bucket().value + "/" + call.key().value);
}

}  // namespace

Result<void> GetObjectTagging(Call& call) {
  Result<Tagged> opened = OpenTagged(call);
  if (!opened.ok()) return NameBucket(call, std::move(opened).error());
  AddVersionHeader(call, *opened->bucket, *opened->object);
  call.RespondXml(TagDocument(opened->object->tags));
  return Ok();
}

Result<void> PutObjectTagging(Call& call) {
  PENSTOCK_ASSIGN(const Tagged tagged, OpenTagged(call));
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  PENSTOCK_ASSIGN(store::Attributes tags, ParseTagDocument(text));
  PENSTOCK_TRY(call.store.SetTags(call.bucket(), call.key(), tagged.version, std::move(tags)));
  AddVersionHeader(call, *tagged.bucket, *tagged.object);
  return Ok();
}

Result<void> DeleteObjectTagging(Call& call) {
  PENSTOCK_ASSIGN(const Tagged tagged, OpenTagged(call));
  PENSTOCK_TRY(call.store.SetTags(call.bucket(), call.key(), tagged.version, {}));
  call.response().status = 204;
  AddVersionHeader(call, *tagged.bucket, *tagged.object);
  return Ok();
}

}  // namespace penstock::emulator::s3
