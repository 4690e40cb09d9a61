// PutObject.
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/write_later.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/protocol/documents.h"

namespace penstock::emulator::s3 {
namespace {

void Respond(Call& call, const Encryption& encryption, const store::PutOutcome& outcome) {
  const store::ObjectRecord& object = *outcome.object;
  Response& response = call.response();
  response.headers.reserve(10);
  AddNewVersionHeader(call, outcome);
  AddExpirationHeader(call, object);
  AddEncryptionHeaders(call, encryption);
  AddContextHeader(call, encryption);
  response.Add("ETag", Quoted(object.etag.value));
  AddChecksumHeader(call, object.checksum_algorithm, object.checksum);
  response.Add("x-amz-checksum-type", object.checksum_type);
}

}  // namespace

Result<void> PutObject(Call& call) {
  if (call.families.directory && call.Header("x-amz-write-offset-bytes")) return AppendObject(call);
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const WriteCondition condition, ReadWriteCondition(call));
  PENSTOCK_ASSIGN(const ChecksumClaim claim, ReadChecksumClaim(call));
  PENSTOCK_ASSIGN(ObjectSettings settings, ReadObjectSettings(call, *bucket));
  PENSTOCK_TRY(RequireChecksumOfLocked(call, settings.lock, claim.info != nullptr, "Put Object"));
  ReceiveOptions receive{.claim = claim,
                         .also_compute = {},
                         .expected_digest = Md5Style::kHex,
                         .md5 = EtagIsMd5(*bucket, settings.encryption)};
  if (claim.info == nullptr) receive.also_compute.push_back(ChecksumAlgorithm::kCrc64Nvme);
  PENSTOCK_ASSIGN(ReceivedBody body, ReceiveBody(call, std::move(receive)));

  store::PutObject request{bucket->name, NewObjectRecord(call, settings, claim, std::move(body)),
                           MakePrecondition(condition, call.key())};
  return WriteThenRespond<store::PutOutcome>(
      call, [&](auto... later) { return call.store.Put(std::move(request), std::move(later)...); },
      [encryption = std::move(settings.encryption)](
          Call& committed, Result<store::PutOutcome> outcome) -> Result<void> {
        if (!outcome.ok()) return std::move(outcome).error();
        Respond(committed, encryption, *outcome);
        return Ok();
      });
}

}  // namespace penstock::emulator::s3
