// What is stored beside an object's bytes: content headers, user metadata, class, encryption, tags
// (spec/protocol.md §0 "Header charset", §2.5).
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_METADATA_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_METADATA_H_

#include <string>
#include <string_view>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/core/call.h"
#include "emulator/s3/encryption/encryption.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// What a write's headers ask to be stored.
struct ObjectSettings {
  // named as reads answer them ("Content-Type", "x-amz-meta-a")
  store::Attributes attributes;
  std::string storage_class = "STANDARD";
  store::Attributes tags;
  // these three are stored with StoreSettings once the attributes are final
  Encryption encryption;
  ObjectLock lock;
  std::string acl;  // empty: the owner's alone
};

// Reads them from the request. Refuses what S3 refuses (storage class, ACL, encryption, size of
// metadata, tags).
Result<ObjectSettings> ReadObjectSettings(const Call& call, const store::BucketRecord& bucket);

// Puts encryption, lock and ACL with the attributes of the object or upload that gets them.
void StoreSettings(ObjectSettings& settings, store::Attributes& attributes);

// GLACIER and DEEP_ARCHIVE: bytes that a read or a copy does not get without a restore.
bool IsArchived(std::string_view storage_class);

// Stored attributes that start with this are the emulator's own and never leave it.
inline constexpr char kInternalAttributeMark = ':';
inline constexpr std::string_view kWebsiteRedirect = "x-amz-website-redirect-location";

// User metadata that cannot be printed is stored under this in front of its name, and reads only
// count it (x-amz-missing-meta).
inline constexpr std::string_view kUnprintablePrefix = ":x-amz-meta-";

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_METADATA_H_
