#include "emulator/s3/protocol/names.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::s3 {
namespace {

// Amazon S3 User Guide, "Bucket naming rules".
TEST(NamesTest, BucketNamesFollowTheNamingRules) {
  for (const char* good : {"abc", "a-b.c", "0ab", "a.b-c.9", "192.168.1.x"})
    EXPECT_TRUE(CheckBucketName(good).ok()) << good;
  EXPECT_TRUE(CheckBucketName(std::string(63, 'a')).ok());
  for (const char* bad :
       {"",         "ab",        "Abc",           "a_b",     "-ab",         "ab-",
        ".ab",      "a..b",      "192.168.1.1",   "xn--abc", "sthree-abc",  "amzn-s3-demo-a",
        "foo.-bar", "foo-.bar",  "a.-b",          "a-.b",    "abc-s3alias", "abc--ol-s3",
        "abc.mrap", "abc--x-s3", "abc--table-s3", "abc-an",  "a b"}) {
    EXPECT_FALSE(CheckBucketName(bad).ok()) << bad;
  }
  const auto long_name = CheckBucketName(std::string(64, 'a'));
  ASSERT_FALSE(long_name.ok());
  EXPECT_EQ(long_name.error().code, "InvalidBucketName");
  EXPECT_EQ(long_name.error().details[0].first, "BucketName");
}

TEST(NamesTest, RelaxedBucketNamesHaveFewerRules) {
  const auto is_allowed = [](std::string_view name) {
    return CheckBucketName(name, BucketNameRules::kRelaxed).ok();
  };
  for (const char* good : {"abc", "b", "MyBucket", "my_bucket", "_", "a..b", "192.168.1.1", "ab-",
                           "xn--abc", "foo.-bar"}) {
    EXPECT_TRUE(is_allowed(good)) << good;
  }
  EXPECT_TRUE(is_allowed(std::string(255, 'B')));
  EXPECT_FALSE(is_allowed(std::string(256, 'B')));
  for (const char* bad :
       {"", ".", "..", "-a", "a b", "a/b", "a\n", "b\xC3\xBC", "b--nozone--x-s3"}) {
    EXPECT_FALSE(is_allowed(bad)) << bad;
  }
}

TEST(NamesTest, KeysAreUtf8AndDoNotLeaveTheBucket) {
  for (const char* good : {"a", "a/../b", "./a", "a//b", "..a", "a/..", "a/./../b", "\xC3\xA9"}) {
    EXPECT_TRUE(CheckKey(good).ok()) << good;
  }
  EXPECT_TRUE(CheckKey(std::string(1024, 'k')).ok());
  EXPECT_EQ(CheckKey(std::string(1025, 'k')).error().code, "KeyTooLongError");
  EXPECT_EQ(CheckKey(std::string(1025, 'k')).error().details[1].second, "1024");
  // S3 returns the number of the HTTP status as the error code.
  for (const char* bad : {"../x", "a/../../b", ".."})
    EXPECT_EQ(CheckKey(bad).error().code, "400") << bad;
  EXPECT_EQ(CheckKey("\xFF").error().code, "InvalidURI");
}

TEST(NamesTest, VersionIdsHave32CharactersOrAreNull) {
  EXPECT_TRUE(IsVersionId("null"));
  EXPECT_TRUE(IsVersionId("0123456789abcdefABCDEF._01234567"));
  EXPECT_FALSE(IsVersionId("0123456789abcdefABCDEF._0123456"));
  EXPECT_FALSE(IsVersionId("0123456789abcdefABCDEF-_01234567"));
}

TEST(NamesTest, RecognisesRegionsAndLocationConstraints) {
  EXPECT_TRUE(IsAwsRegion("eu-central-1"));
  EXPECT_FALSE(IsAwsRegion("aws-global"));
  EXPECT_EQ(RegionOfConstraint("EU"), "eu-west-1");
  EXPECT_EQ(RegionOfConstraint("us-west-2"), "us-west-2");
}

TEST(ResourceOfBucketArnTest, AcceptsOnlyBucketArnsOfAnyPartition) {
  EXPECT_EQ(ResourceOfBucketArn("arn:aws:s3:::b"), "b");
  EXPECT_EQ(ResourceOfBucketArn("arn:aws-cn:s3:::b/k"), "b/k");
  EXPECT_EQ(ResourceOfBucketArn("arn:aws:sqs:::b"), "");
  EXPECT_EQ(ResourceOfBucketArn("b"), "");
}

}  // namespace
}  // namespace penstock::emulator::s3
