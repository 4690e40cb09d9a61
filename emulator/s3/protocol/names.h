// Rules for bucket names, keys, version ids and regions (Amazon S3 User Guide, "Bucket naming
// rules" and "Naming Amazon S3 objects"). Pure.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_NAMES_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_NAMES_H_

#include <cstdint>
#include <string_view>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::s3 {

enum class BucketNameRules : std::uint8_t {
  // S3's current rules.
  kCurrent,
  // Also 1 to 255 letters, digits, '.', '-' and '_' that do not begin with '.' or '-': roughly the
  // rules of us-east-1 until 2018.
  kRelaxed,
};

// Returns InvalidBucketName with BucketName if the name is not allowed.
Result<void> CheckBucketName(std::string_view name,
                             BucketNameRules allowed = BucketNameRules::kCurrent);
// Returns KeyTooLongError, InvalidURI if the key is not UTF-8, or error code "400" for a key whose
// ".." segments lead above the root.
Result<void> CheckKey(std::string_view key);
bool IsVersionId(std::string_view text);
bool IsAwsRegion(std::string_view text);
// "EU" is the old name of eu-west-1.
std::string_view RegionOfConstraint(std::string_view constraint);

// Returns what follows "arn:aws:s3:::" (in any partition): a bucket, or a bucket, "/" and a key.
// Empty for other ARNs.
std::string_view ResourceOfBucketArn(std::string_view arn);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_NAMES_H_
