#include "client/s3/endpoint/bucket_regions.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

TEST(BucketRegionsTest, StoresTheLastRegion) {
  BucketRegions regions;
  EXPECT_EQ(regions.Find("b"), "");
  regions.Learn("b", "eu-west-1");
  regions.Learn("c", "us-west-2");
  EXPECT_EQ(regions.Find("b"), "eu-west-1");
  regions.Learn("b", "ap-south-1");
  EXPECT_EQ(regions.Find("b"), "ap-south-1");
}

TEST(BucketRegionsTest, ForgetsOnlyTheGivenPair) {
  BucketRegions regions;
  regions.Learn("b", "eu-west-1");
  regions.Learn("c", "eu-west-1");
  regions.Forget("b", "eu-west-2");
  EXPECT_EQ(regions.Find("b"), "eu-west-1") << "another region was forgotten";
  regions.Forget("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "");
  EXPECT_EQ(regions.Find("c"), "eu-west-1");
  regions.Learn("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "eu-west-1");
}

TEST(BucketRegionsTest, TheLaterOfTwoRegionsIsUsed) {
  BucketRegions regions;
  regions.Learn("b", "eu-west-1");
  regions.Learn("b", "eu-west-2");
  regions.Learn("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "eu-west-1");
  regions.Forget("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "eu-west-2") << "the earlier region was not forgotten";
}

TEST(BucketRegionsTest, AlternatingRegionsUseNoFurtherSlots) {
  BucketRegions regions;
  for (int i = 0; i < 2000; ++i) {
    regions.Learn("b", i % 2 == 0 ? "eu-west-1" : "eu-west-2");
    regions.Forget("b", i % 2 == 0 ? "eu-west-1" : "eu-west-2");
  }
  regions.Learn("c", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "");
  EXPECT_EQ(regions.Find("c"), "eu-west-1");
}

TEST(BucketRegionsTest, AFullSetReplacesTheOldestPair) {
  // Symptom: after 1024 buckets no further region was stored, and each request to a later bucket
  // was redirected first.
  BucketRegions regions;
  const auto bucket = [](int i) { return "bucket-" + std::to_string(i); };
  for (int i = 0; i < 5000; ++i) {
    regions.Learn(bucket(i), "r" + std::to_string(i));
    ASSERT_EQ(regions.Find(bucket(i)), "r" + std::to_string(i));
  }
  int kept = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string region = regions.Find(bucket(i));
    kept += region.empty() ? 0 : 1;
    ASSERT_TRUE(region.empty() || region == "r" + std::to_string(i)) << i << " " << region;
  }
  EXPECT_EQ(kept, 1024);
  for (int i = 4900; i < 5000; ++i)
    EXPECT_NE(regions.Find(bucket(i)), "") << i << " was stored recently";
}

TEST(BucketRegionsTest, ForgottenPairsAreReplacedFirst) {
  BucketRegions regions;
  for (int i = 0; i < 5000; ++i) {
    const std::string bucket = "bucket-" + std::to_string(i);
    regions.Learn(bucket, "r");
    if (i >= 16) regions.Forget(bucket, "r");
  }
  for (int i = 0; i < 16; ++i) EXPECT_EQ(regions.Find("bucket-" + std::to_string(i)), "r") << i;
}

TEST(BucketRegionsTest, IgnoresNamesLongerThanAnyBucketName) {
  BucketRegions regions;
  regions.Learn(std::string(64, 'b'), std::string(63, 'r'));
  EXPECT_EQ(regions.Find(std::string(64, 'b')), std::string(63, 'r'));
  regions.Learn(std::string(65, 'b'), "r");
  EXPECT_EQ(regions.Find(std::string(65, 'b')), "");
}

TEST(BucketRegionsTest, AReaderNeverSeesAPartialWrite) {
  BucketRegions regions;
  std::atomic<bool> over{false};
  std::jthread writer([&] {
    // Far more pairs than slots, so that slots are replaced all the time.
    for (int i = 0; i < 100'000; ++i) {
      const std::string name = "bucket-" + std::to_string(i % 3000);
      regions.Learn(name, "region-of-" + name);
    }
    over = true;
  });
  int found = 0;
  for (int i = 0; !over; i = (i + 7) % 3000) {
    const std::string name = "bucket-" + std::to_string(i);
    const std::string region = regions.Find(name);
    ASSERT_TRUE(region.empty() || region == "region-of-" + name) << name << " " << region;
    found += region.empty() ? 0 : 1;
  }
  RecordProperty("found", found);
}

TEST(BucketRegionsTest, LearnsFromManyThreads) {
  BucketRegions regions;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&regions, t] {
        for (int i = 0; i < 100; ++i)
          regions.Learn(std::to_string(t) + "-" + std::to_string(i), "r");
      });
    }
  }
  for (int t = 0; t < 4; ++t) EXPECT_EQ(regions.Find(std::to_string(t) + "-99"), "r");
}

}  // namespace
}  // namespace penstock::s3
