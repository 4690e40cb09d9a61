// Properties of directory buckets in responses: location, ARN and host name.
#ifndef PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_BUCKET_H_
#define PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_BUCKET_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "emulator/s3/encryption/encryption.h"

namespace penstock::emulator::s3 {

// Key of the zone's type in the bucket's configuration.
inline constexpr std::string_view kLocationTypeKey = "location-type";

inline constexpr std::string_view kExpressStorageClass = "EXPRESS_ONEZONE";

bool IsDirectoryBucket(const store::BucketRecord& bucket);

// True if the ETag of objects in the bucket is the MD5 of their bytes. Otherwise it is opaque.
bool EtagIsMd5(const store::BucketRecord& bucket, const Encryption& encryption);

// Returns "arn:aws:s3:::name" or, for a directory bucket,
// "arn:aws:s3express:REGION:ACCOUNT:bucket/name".
std::string BucketArn(const Call& call, const store::BucketRecord& bucket);

// Returns "name.s3express-ZONE.REGION.amazonaws.com".
std::string DirectoryHostName(const store::BucketRecord& bucket);

// Adds x-amz-bucket-location-type and -name for a directory bucket.
void AddLocationHeaders(Call& call, const store::BucketRecord& bucket);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_BUCKET_H_
