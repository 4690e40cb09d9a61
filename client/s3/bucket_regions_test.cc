#include "client/s3/bucket_regions.h"

#include <thread>

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(BucketRegionsTest, RemembersTheLastLesson) {
  BucketRegions regions;
  EXPECT_EQ(regions.Find("b"), "");
  regions.Learn("b", "eu-west-1");
  regions.Learn("c", "us-west-2");
  EXPECT_EQ(regions.Find("b"), "eu-west-1");
  regions.Learn("b", "ap-south-1");
  EXPECT_EQ(regions.Find("b"), "ap-south-1");
}

TEST(BucketRegionsTest, ForgetsWhatItIsToldToAndNothingElse) {
  BucketRegions regions;
  regions.Learn("b", "eu-west-1");
  regions.Learn("c", "eu-west-1");
  regions.Forget("b", "eu-west-2");
  EXPECT_EQ(regions.Find("b"), "eu-west-1") << "another one was refuted";
  regions.Forget("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "");
  EXPECT_EQ(regions.Find("c"), "eu-west-1");
  regions.Learn("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "eu-west-1");
}

TEST(BucketRegionsTest, TheLaterOfTwoLessonsCounts) {
  BucketRegions regions;
  regions.Learn("b", "eu-west-1");
  regions.Learn("b", "eu-west-2");
  regions.Learn("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "eu-west-1");
  regions.Forget("b", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "eu-west-2") << "the one before has not been refuted";
}

TEST(BucketRegionsTest, ABucketThatMovesToAndFroTakesNoMoreRoom) {
  BucketRegions regions;
  for (int i = 0; i < 2000; ++i) {
    regions.Learn("b", i % 2 == 0 ? "eu-west-1" : "eu-west-2");
    regions.Forget("b", i % 2 == 0 ? "eu-west-1" : "eu-west-2");
  }
  regions.Learn("c", "eu-west-1");
  EXPECT_EQ(regions.Find("b"), "");
  EXPECT_EQ(regions.Find("c"), "eu-west-1");
}

TEST(BucketRegionsTest, StopsLearningAtItsLimit) {
  BucketRegions regions;
  const auto bucket = [](int i) { return "bucket-" + std::to_string(i); };
  for (int i = 0; i < 1100; ++i) regions.Learn(bucket(i), "r");
  for (int i = 0; i < 1100; ++i) ASSERT_EQ(regions.Find(bucket(i)), i < 1024 ? "r" : "") << i;
  regions.Learn("bucket-7", "q");
  EXPECT_EQ(regions.Find("bucket-7"), "r") << "a pair of its own, for which there is no room";
  regions.Forget("bucket-7", "r");
  EXPECT_EQ(regions.Find("bucket-7"), "");
  EXPECT_EQ(regions.Find("bucket-8"), "r");
}

TEST(BucketRegionsTest, LearnsFromManyThreads) {
  BucketRegions regions;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&regions, t] {
        for (int i = 0; i < 100; ++i) regions.Learn(std::to_string(t) + "-" + std::to_string(i), "r");
      });
    }
  }
  for (int t = 0; t < 4; ++t) EXPECT_EQ(regions.Find(std::to_string(t) + "-99"), "r");
}

}  // namespace
}  // namespace penstock::s3
