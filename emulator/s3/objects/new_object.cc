#include "emulator/s3/objects/new_object.h"

#include "base/encoding.h"
#include "emulator/s3/directory/directory_bucket.h"

namespace penstock::emulator::s3 {

store::ObjectRecord NewObjectRecord(const Call& call, ObjectSettings& settings,
                                    const ChecksumClaim& claim, ReceivedBody body) {
  store::ObjectRecord record;
  record.key = call.key();
  record.owner_id = call.exchange.identity.owner_id;
  record.size = body.size;
  record.etag = EtagIsMd5(*call.opened, settings.encryption) ? ETag(HexEncode(AsBytes(body.md5)))
                                                             : OpaqueETag();
  record.storage_class = std::move(settings.storage_class);
  record.checksum_algorithm =
      claim.info ? claim.info->name : InfoOf(ChecksumAlgorithm::kCrc64Nvme).name;
  record.checksum_type = kFullObject;
  record.checksum = claim.info ? std::move(body.claimed) : std::move(body.computed.front());
  record.attributes = std::move(settings.attributes);
  StoreSettings(settings, record.attributes);
  record.tags = std::move(settings.tags);
  record.content = std::move(body.content);
  return record;
}

}  // namespace penstock::emulator::s3
