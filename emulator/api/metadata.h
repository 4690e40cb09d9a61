// What is stored beside an object's bytes: content headers, user metadata, class, encryption, tags (spec/protocol.md §0
// "Header charset", §2.5).
#ifndef PENSTOCK_EMULATOR_API_METADATA_H_
#define PENSTOCK_EMULATOR_API_METADATA_H_

#include <string>
#include <string_view>

#include "emulator/api/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::api {

// What a write's headers ask to be stored.
struct ObjectSettings {
  store::Attributes attributes;               // named as reads answer them ("Content-Type", "x-amz-meta-a")
  std::string storage_class = "STANDARD";
  store::Attributes tags;
};

// Reads them from the request. Refuses what S3 refuses (storage class, ACL, encryption, size of metadata, tags).
Result<ObjectSettings> ReadObjectSettings(const Call& call);
// The part of it that does not depend on the copy directives: class, ACL, encryption.
Result<std::string> ReadStorageClass(const Call& call);

// Stored attributes that start with this are the emulator's own and never leave it.
inline constexpr char kInternalAttributeMark = ':';
inline constexpr std::string_view kWebsiteRedirect = "x-amz-website-redirect-location";

// RFC 2047 both ways, at the time of writing: an encoded word whose text is ASCII is stored decoded, text beyond ASCII
// is stored encoded ("=?UTF-8?B?...?=").
std::string NormaliseMetadataValue(std::string_view value);

}  // namespace penstock::emulator::api

#endif  // PENSTOCK_EMULATOR_API_METADATA_H_
