// Names of directory buckets, "base--zone--x-s3", their zone ids (Amazon S3 User Guide, "Directory
// bucket naming rules"), and host names of the S3 Express One Zone endpoints. Pure.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_NAMES_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_NAMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// True if the name has the suffix "--x-s3". Only the name distinguishes a directory bucket from a
// general purpose bucket.
bool IsDirectoryBucketName(std::string_view name);

// True for ids of availability zones ("use1-az4") and local zones ("usw2-lax1-az1").
bool IsZoneId(std::string_view text);
bool IsLocalZone(std::string_view zone);

// Returns the zone in a directory bucket's name by the rule of the SDKs: the shortest of 8, 9, 13,
// 14 or 20 characters that follow "--". Returns nullopt if none fits.
std::optional<std::string_view> ZoneOf(std::string_view bucket);

// Returns InvalidBucketName with BucketName and a message with the reason.
// IsDirectoryBucketName(name) must be true.
Result<void> CheckDirectoryBucketName(std::string_view name);

enum class DirectoryEndpoint : std::uint8_t {
  kNone,
  kZonal,    // "[bucket.]s3express-[fips-]ZONE[.dualstack].REGION.DOMAIN"
  kControl,  // "s3express-control[-fips][.dualstack].REGION.DOMAIN"
};

// Views into the parsed text.
struct DirectoryHost {
  DirectoryEndpoint endpoint = DirectoryEndpoint::kNone;
  std::string_view bucket;  // Of a zonal host. Empty: none.
  std::string_view zone;
  std::string_view region;
};

// `labels`: a host name in lower case, without port, domain and the dot before the domain.
DirectoryHost ParseDirectoryHost(std::string_view labels);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_NAMES_H_
