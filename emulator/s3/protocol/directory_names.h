// Names of directory buckets, "base--zone--x-s3", and the zones in them (spec/protocol.md §1.1).
// Pure.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_NAMES_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_NAMES_H_

#include <optional>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// What the name says the bucket is: nothing else tells a directory bucket from a general purpose
// one.
bool IsDirectoryBucketName(std::string_view name);

// Availability zones ("use1-az4") or local zones ("usw2-lax1-az1").
bool IsZoneId(std::string_view text);
bool IsLocalZone(std::string_view zone);

// The zone of a directory bucket's name as SDKs find it: 8, 9, 13, 14 or 20 characters behind "--",
// the shortest that fits. nullopt: none of them does.
std::optional<std::string_view> ZoneOf(std::string_view bucket);

// InvalidBucketName + BucketName whose message says what is wrong. `name` is one that
// IsDirectoryBucketName knows.
Result<void> CheckDirectoryBucketName(std::string_view name);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_NAMES_H_
