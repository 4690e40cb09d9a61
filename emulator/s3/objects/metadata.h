// The data stored with an object's bytes: content headers, user metadata, storage class, encryption
// and tags.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_METADATA_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_METADATA_H_

#include <string>
#include <string_view>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/call.h"
#include "emulator/s3/core/restore_state.h"
#include "emulator/s3/encryption/encryption.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// The settings in the headers of a write.
struct ObjectSettings {
  // Named like the response headers ("Content-Type", "x-amz-meta-a").
  store::Attributes attributes;
  std::string storage_class = "STANDARD";
  store::Attributes tags;
  // StoreSettings stores the next three once the attributes are complete.
  Encryption encryption;
  ObjectLock lock;
  std::string acl;  // Empty: access for the owner only.
};

// Reads the settings from the request. Returns S3's errors for invalid storage class, ACL,
// encryption, metadata size or tags.
Result<ObjectSettings> ReadObjectSettings(const Call& call, const store::BucketRecord& bucket);

// Adds encryption, lock and ACL to the attributes of an object or upload.
void StoreSettings(ObjectSettings& settings, store::Attributes& attributes);

inline constexpr std::string_view kWebsiteRedirect = "x-amz-website-redirect-location";

// Prefix of user metadata with control characters that older emulators stored. Reads encode them.
inline constexpr std::string_view kUnprintablePrefix = ":x-amz-meta-";

// Makes the record of an object from one body, for PutObject and PostObject. `body` must have been
// received with the claim's algorithm, or with CRC64NVME if there is no claim. Moves values out of
// `settings`.
store::ObjectRecord NewObjectRecord(const Call& call, ObjectSettings& settings,
                                    const ChecksumClaim& claim, ReceivedBody body);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_METADATA_H_
