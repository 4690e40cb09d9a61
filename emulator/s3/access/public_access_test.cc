#include "emulator/s3/access/public_access.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(PublicAccessTest, EverythingIsBlockedByDefault) {
  store::BucketRecord bucket;
  EXPECT_TRUE(PublicAccessBlockOf(bucket).block_acls);
  EXPECT_TRUE(PublicAccessBlockOf(bucket).restrict_buckets);
  bucket.configuration = {
      {"publicAccessBlock",
       "<PublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls>"
       "<IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>"
       "<RestrictPublicBuckets>false</RestrictPublicBuckets></PublicAccessBlockConfiguration>"}};
  const PublicAccessBlock some = PublicAccessBlockOf(bucket);
  EXPECT_FALSE(some.block_acls);
  EXPECT_TRUE(some.ignore_acls);
  EXPECT_TRUE(some.block_policy);
  EXPECT_FALSE(some.restrict_buckets);
  bucket.configuration[0].second.clear();
  EXPECT_FALSE(PublicAccessBlockOf(bucket).block_policy) << "deleted configuration";
}

}  // namespace
}  // namespace penstock::emulator::s3
