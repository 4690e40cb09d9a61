#include "emulator/s3/directory/directory_bucket.h"

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {

bool IsDirectoryBucket(const store::BucketRecord& bucket) {
  return IsDirectoryBucketName(bucket.name.value);
}

bool EtagIsMd5(const store::BucketRecord& bucket, const Encryption& encryption) {
  return encryption.etag_is_md5() && !IsDirectoryBucket(bucket);
}

std::string BucketArn(const Call& call, const store::BucketRecord& bucket) {
  if (!IsDirectoryBucket(bucket)) return "arn:aws:s3:::" + bucket.name.value;
  return "arn:aws:s3express:" + std::string(RegionOfConstraint(bucket.region)) + ":" +
         call.exchange.identity.account_id + ":bucket/" + bucket.name.value;
}

std::string DirectoryHostName(const store::BucketRecord& bucket) {
  return bucket.name.value + ".s3express-" + std::string(ZoneOf(bucket.name.value).value_or("")) +
         "." + std::string(RegionOfConstraint(bucket.region)) + ".amazonaws.com";
}

void AddLocationHeaders(Call& call, const store::BucketRecord& bucket) {
  if (!IsDirectoryBucket(bucket)) return;
  if (const std::string* type = FindConfiguration(bucket, kLocationTypeKey)) {
    call.response().Add("x-amz-bucket-location-type", *type);
  }
  call.response().Add("x-amz-bucket-location-name",
                      std::string(ZoneOf(bucket.name.value).value_or("")));
}

}  // namespace penstock::emulator::s3
