// What S3 accepts as a bucket name, a key, a version id, a region (spec/protocol.md §2.1, §2.3,
// §2.7). Pure.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_NAMES_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_NAMES_H_

#include <cstdint>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::s3 {

enum class BucketNames : std::uint8_t {
  kOfS3,
  // Those, and 1 to 255 letters, digits, '.', '-' and '_' that begin with no punctuation: about
  // what us-east-1 took until 2018.
  kRelaxed,
};

// InvalidBucketName + BucketName.
Result<void> CheckBucketName(std::string_view name, BucketNames allowed = BucketNames::kOfS3);
// KeyTooLongError; InvalidURI when not UTF-8; the bare 400 of a key that climbs above its root.
Result<void> CheckKey(std::string_view key);
bool IsVersionId(std::string_view text);
bool IsAwsRegion(std::string_view text);
// "EU" is the old name of eu-west-1.
std::string_view RegionOfConstraint(std::string_view constraint);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_NAMES_H_
