// GetObjectTagging, PutObjectTagging and DeleteObjectTagging.
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/tags.h"

namespace penstock::emulator::s3 {
namespace {

struct TaggedObject {
  store::BucketPtr bucket;
  std::optional<VersionId> version;
  store::ObjectPtr object;
};

Result<TaggedObject> OpenTagged(Call& call) {
  TaggedObject tagged;
  PENSTOCK_ASSIGN(tagged.bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(tagged.version, VersionParameter(call));
  PENSTOCK_ASSIGN(tagged.object, OpenObject(call, tagged.version, LatestMarker::kRefused));
  return tagged;
}

// Recorded against Amazon S3: only GetObjectTagging returns the missing key with its bucket.
Error AddBucketToKey(const Call& call, Error error) {
  if (error.code != "NoSuchKey") return error;
  return NoSuchKey(call.bucket().value + "/" + call.key().value);
}

}  // namespace

Result<void> GetObjectTagging(Call& call) {
  Result<TaggedObject> opened = OpenTagged(call);
  if (!opened.ok()) return AddBucketToKey(call, std::move(opened).error());
  AddVersionHeader(call, *opened->bucket, *opened->object);
  call.RespondXml(TagDocument(opened->object->tags));
  return Ok();
}

Result<void> PutObjectTagging(Call& call) {
  // The tags are read first because policies can depend on them. Their errors come after those of
  // the object.
  const Result<std::string> text = ReadDocument(call, {.require_checksum = true});
  Result<store::Attributes> read =
      text.ok() ? ParseTagDocument(*text) : Result<store::Attributes>(text.error());
  PENSTOCK_TRY(AuthorizeWithBody(call, TagKeys(read.ok() ? *read : store::Attributes())));
  PENSTOCK_ASSIGN(const TaggedObject tagged, OpenTagged(call));
  PENSTOCK_ASSIGN(store::Attributes tags, std::move(read));
  PENSTOCK_TRY(call.store.SetTags(call.bucket(), call.key(), tagged.version, std::move(tags)));
  AddVersionHeader(call, *tagged.bucket, *tagged.object);
  return Ok();
}

Result<void> DeleteObjectTagging(Call& call) {
  PENSTOCK_ASSIGN(const TaggedObject tagged, OpenTagged(call));
  PENSTOCK_TRY(call.store.SetTags(call.bucket(), call.key(), tagged.version, {}));
  call.response().status = 204;
  AddVersionHeader(call, *tagged.bucket, *tagged.object);
  return Ok();
}

}  // namespace penstock::emulator::s3
