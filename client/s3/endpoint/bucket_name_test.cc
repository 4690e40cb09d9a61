#include "client/s3/endpoint/bucket_name.h"

#include <string>

#include <gtest/gtest.h>

#include "penstock/bucket_kind.h"

namespace penstock::s3 {
namespace {

TEST(BucketNameTest, ADirectoryBucketIsRecognisedByItsSuffix) {
  EXPECT_TRUE(IsDirectoryBucket("data--usw2-az1--x-s3"));
  EXPECT_TRUE(IsDirectoryBucket("point--usw2-az1--xa-s3"));
  for (const char* name : {"data", "data--x-s3-", "data-x-s3", "data--X-S3", "data--op-s3", ""}) {
    EXPECT_FALSE(IsDirectoryBucket(name)) << name;
  }
}

TEST(BucketNameTest, FindsZonesOfEveryLength) {
  EXPECT_EQ(ZoneOfBucket("data--usw2-az1--x-s3"), "usw2-az1");
  EXPECT_EQ(ZoneOfBucket("data--apne1-az4--x-s3"), "apne1-az4");
  EXPECT_EQ(ZoneOfBucket("data--usw2-lax1-az1--x-s3"), "usw2-lax1-az1");
  EXPECT_EQ(ZoneOfBucket("data--apne1-tpe1-az1--x-s3"), "apne1-tpe1-az1");
  EXPECT_EQ(ZoneOfBucket("data--abcdefgh-abcdefg-az1--xa-s3"), "abcdefgh-abcdefg-az1");
  EXPECT_EQ(ZoneOfBucket("a-b--c--use1-az4--xa-s3"), "use1-az4");
}

TEST(BucketNameTest, OtherLengthsAreNotAZone) {
  for (const char* name : {"--x-s3", "usw2-az1--x-s3", "data-usw2-az1--x-s3", "data--az1--x-s3",
                           "data--usw2-az1", ""}) {
    EXPECT_EQ(ZoneOfBucket(name), "") << name;
  }
}

TEST(BucketNameTest, ALabelHasLettersDigitsAndInnerHyphens) {
  for (const char* label : {"a", "us-east-1", "A1"}) EXPECT_TRUE(IsHostLabel(label)) << label;
  for (const char* label : {"", "-a", "a-", "a_b", "a.b", "a b"})
    EXPECT_FALSE(IsHostLabel(label)) << label;
  EXPECT_TRUE(IsHostLabel(std::string(63, 'a')));
  EXPECT_FALSE(IsHostLabel(std::string(64, 'a')));
  EXPECT_TRUE(IsHostLabel("a.b", Dots::kAllowed));
  EXPECT_FALSE(IsHostLabel("a..b", Dots::kAllowed));
}

}  // namespace
}  // namespace penstock::s3
