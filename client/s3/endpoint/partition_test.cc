#include "client/s3/endpoint/partition.h"

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

// Examples for the regular expressions of AWS's partition table (botocore's partitions.json).
TEST(PartitionTest, RegionsBelongToPartitionsByTheirForm) {
  EXPECT_EQ(PartitionOf("us-east-1").name, "aws");
  EXPECT_EQ(PartitionOf("cn-north-1").name, "aws-cn");
  EXPECT_EQ(PartitionOf("us-gov-west-1").name, "aws-us-gov");
  EXPECT_EQ(PartitionOf("eusc-de-east-1").name, "aws-eusc");
  EXPECT_EQ(PartitionOf("us-iso-east-1").name, "aws-iso");
  EXPECT_EQ(PartitionOf("us-isob-east-1").name, "aws-iso-b");
  EXPECT_EQ(PartitionOf("eu-isoe-west-1").name, "aws-iso-e");
  EXPECT_EQ(PartitionOf("us-isof-south-1").name, "aws-iso-f");
}

TEST(PartitionTest, GlobalRegionsBelongToTheirPartition) {
  EXPECT_EQ(PartitionOf("aws-global").name, "aws");
  EXPECT_EQ(PartitionOf("aws-cn-global").dns_suffix, "amazonaws.com.cn");
  EXPECT_EQ(PartitionOf("aws-iso-b-global").dns_suffix, "sc2s.sgov.gov");
}

TEST(PartitionTest, UnknownRegionsBelongToPartitionAws) {
  for (const char* region : {"xx-new-1", "cn-north", "cn--1", "cn-north-", "cn-north-1a",
                             "eusc-fr-east-1", "", "cn-a-b-1"}) {
    EXPECT_EQ(PartitionOf(region).name, "aws") << region;
  }
}

TEST(PartitionTest, HostsOfAwsEndWithTheSuffixOfAPartition) {
  for (const char* host : {"s3.us-east-1.amazonaws.com", "s3.cn-north-1.amazonaws.com.cn",
                           "s3.us-iso-east-1.c2s.ic.gov", "s3.eusc-de-east-1.amazonaws.eu"}) {
    EXPECT_TRUE(IsAwsHost(host)) << host;
  }
  for (const char* host :
       {"amazonaws.com", "s3amazonaws.com", "amazonaws.com.example", "minio", ""})
    EXPECT_FALSE(IsAwsHost(host)) << host;
}

}  // namespace
}  // namespace penstock::s3
