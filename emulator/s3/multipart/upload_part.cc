// UploadPart and UploadPartCopy.
#include "base/encoding.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/write_later.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/multipart/multipart.h"
#include "emulator/s3/objects/copy_source.h"
#include "emulator/s3/objects/ranges.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

Result<int> PartNumberParameter(const Call& call) {
  const std::string_view text = call.Query("partNumber").value_or("");
  const auto number = ParseDecimal(text, kMaxParts);
  if (number && *number > 0) return static_cast<int>(*number);
  return InvalidArgument("Part number must be an integer between 1 and 10000, inclusive",
                         "partNumber", text);
}

// Recorded against Amazon S3: the parts of a COMPOSITE upload must state their checksums. For a
// FULL_OBJECT upload S3 computes missing ones.
Result<void> CheckPartAlgorithm(const store::UploadRecord& upload, const ChecksumClaim& claim) {
  const ChecksumInfo* declared = FindChecksum(upload.checksum_algorithm);
  if (declared == nullptr || claim.info == declared) return Ok();
  if (claim.info == nullptr && upload.checksum_type != kComposite) return Ok();
  return InvalidRequest(
      "Checksum Type mismatch occurred, expected checksum Type: " + std::string(declared->lower) +
      ", actual checksum Type: " + std::string(claim.info ? claim.info->lower : "null"));
}

// Returns the algorithm of the upload, or CRC64NVME, which the object gets without one.
const ChecksumInfo& StoredAlgorithm(const store::UploadRecord& upload) {
  const ChecksumInfo* declared = FindChecksum(upload.checksum_algorithm);
  return declared ? *declared : InfoOf(ChecksumAlgorithm::kCrc64Nvme);
}

void SetChecksum(store::PartRecord& part, const store::UploadRecord& upload, std::string value) {
  part.checksum = std::move(value);
  part.checksum_is_internal = upload.checksum_algorithm.empty();
}

Result<void> StorePart(Call& call, store::PartRecord part, store::Content content) {
  const UploadId id = UploadIdParameter(call);
  part.last_modified = call.exchange.space->clock->Now();
  store::PutPart request{call.bucket(), call.key(), id, std::move(part), std::move(content)};
  return WriteThenRespond<void>(
      call, [&](auto... later) { return call.store.Put(std::move(request), std::move(later)...); },
      [id](Call&, Result<void> stored) -> Result<void> {
        // The upload was aborted or completed during the transfer.
        if (!stored.ok() && stored.error().code == "NoSuchUpload") return NoSuchUpload(id);
        return stored;
      });
}

}  // namespace

Result<void> UploadPart(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const int number, PartNumberParameter(call));
  PENSTOCK_ASSIGN(const store::UploadPtr upload, OpenUpload(call));
  PENSTOCK_ASSIGN(const ChecksumClaim claim, ReadChecksumClaim(call));
  PENSTOCK_TRY(CheckPartAlgorithm(*upload, claim));
  PENSTOCK_TRY(RequireChecksumOfLocked(call, StoredObjectLock(upload->attributes),
                                       claim.info != nullptr, "Upload Part"));
  Encryption encryption = StoredEncryption(upload->attributes);
  PENSTOCK_TRY(CheckUploadKey(call, encryption));
  const ChecksumInfo& stored_algorithm = StoredAlgorithm(*upload);
  ReceiveOptions receive{.claim = claim,
                         .also_compute = {},
                         .expected_digest = Md5Style::kBase64,
                         .md5 = EtagIsMd5(*bucket, encryption)};
  if (claim.info != &stored_algorithm) receive.also_compute.push_back(stored_algorithm.algorithm);
  PENSTOCK_ASSIGN(ReceivedBody body, ReceiveBody(call, std::move(receive)));

  store::PartRecord part;
  part.number = number;
  part.size = body.size;
  part.etag = EtagIsMd5(*bucket, encryption) ? ETag(HexEncode(AsBytes(body.md5))) : OpaqueETag();
  SetChecksum(part, *upload,
              claim.info == &stored_algorithm ? body.claimed : body.computed.front());
  AddEncryptionHeaders(call, encryption);
  call.response().Add("ETag", Quoted(part.etag.value));
  if (claim.info) {
    AddChecksumHeader(call, claim.info->name, body.claimed);
  } else if (!upload->checksum_algorithm.empty()) {
    AddChecksumHeader(call, upload->checksum_algorithm, part.checksum);
  }
  return StorePart(call, std::move(part), std::move(body.content));
}

Result<void> UploadPartCopy(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const int number, PartNumberParameter(call));
  PENSTOCK_ASSIGN(const store::UploadPtr upload, OpenUpload(call));
  Encryption encryption = StoredEncryption(upload->attributes);
  PENSTOCK_TRY(CheckUploadKey(call, encryption));
  PENSTOCK_ASSIGN(const OpenedSource source, OpenCopySource(call));
  ByteRange range{0, source.object->size};
  if (const auto header = call.Header("x-amz-copy-source-range")) {
    PENSTOCK_ASSIGN(range, ParseCopyRange(*header, source.object->size));
  }
  if (range.size() > kMaxBodyBytes) {
    return InvalidRequest(
        "The specified copy source is larger than the maximum allowable size for a copy source: " +
        std::to_string(kMaxBodyBytes));
  }
  PENSTOCK_TRY(CheckCopySource(call.exchange, source.object->content, range));
  PENSTOCK_ASSIGN(ContentDigests digests,
                  DigestContent(call.exchange, source.object->content, range,
                                {.algorithm = StoredAlgorithm(*upload).algorithm,
                                 .md5 = EtagIsMd5(*bucket, encryption)}));
  store::PartRecord part;
  part.number = number;
  part.size = range.size();
  part.etag = EtagIsMd5(*bucket, encryption) ? ETag(HexEncode(AsBytes(digests.md5))) : OpaqueETag();
  SetChecksum(part, *upload, std::move(digests.checksum));

  AddSourceVersionHeader(call, source);
  AddEncryptionHeaders(call, encryption);
  XmlWriter xml;
  xml.Open("CopyPartResult", kXmlNamespace);
  xml.Element("LastModified", XmlDate(call.exchange.space->clock->Now()));
  xml.Element("ETag", Quoted(part.etag.value));
  WriteChecksum(xml, upload->checksum_algorithm, part.checksum);
  xml.Close("CopyPartResult");
  call.RespondXml(xml.Take());
  return StorePart(call, std::move(part), source.object->content.Sub(range));
}

}  // namespace penstock::emulator::s3
