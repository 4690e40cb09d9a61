// What answers tell about a directory bucket: where it is, its ARN, its host.
#ifndef PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_BUCKET_H_
#define PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_BUCKET_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "emulator/s3/encryption/encryption.h"

namespace penstock::emulator::s3 {

// Under which the zone's type is kept with the bucket.
inline constexpr std::string_view kLocationTypeKey = "location-type";

inline constexpr std::string_view kExpressStorageClass = "EXPRESS_ONEZONE";

bool IsDirectoryBucket(const store::BucketRecord& bucket);

// Spec §2.5 "ETag", §1.5: the ETag of what is written there is the MD5 of its bytes. Else it is
// opaque.
bool EtagIsMd5(const store::BucketRecord& bucket, const Encryption& encryption);

// "arn:aws:s3:::name", or of a directory bucket "arn:aws:s3express:REGION:ACCOUNT:bucket/name".
std::string BucketArn(const Call& call, const store::BucketRecord& bucket);

// "name.s3express-ZONE.REGION.amazonaws.com"
std::string DirectoryHostName(const store::BucketRecord& bucket);

// x-amz-bucket-location-type and -name; nothing for a general purpose bucket.
void AddLocationHeaders(Call& call, const store::BucketRecord& bucket);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_BUCKET_H_
