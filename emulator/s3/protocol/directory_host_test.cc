#include "emulator/s3/protocol/directory_host.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

using enum DirectoryEndpoint;

TEST(DirectoryHostTest, ZonalHostsHaveBucketZoneAndRegion) {
  for (const char* labels : {"b--use1-az4--x-s3.s3express-use1-az4.us-east-1",
                             "b--use1-az4--x-s3.s3express-use1-az4.dualstack.us-east-1",
                             "b--use1-az4--x-s3.s3express-fips-use1-az4.us-east-1",
                             "b--use1-az4--x-s3.s3express-fips-use1-az4.dualstack.us-east-1"}) {
    const DirectoryHost host = ParseDirectoryHost(labels);
    EXPECT_EQ(host.endpoint, kZonal) << labels;
    EXPECT_EQ(host.bucket, "b--use1-az4--x-s3") << labels;
    EXPECT_EQ(host.zone, "use1-az4") << labels;
    EXPECT_EQ(host.region, "us-east-1") << labels;
  }
  EXPECT_EQ(ParseDirectoryHost("s3express-usw2-lax1-az1.us-west-2").zone, "usw2-lax1-az1");
  EXPECT_EQ(ParseDirectoryHost("s3express-usw2-lax1-az1.us-west-2").bucket, "");
}

TEST(DirectoryHostTest, ControlHostsHaveOnlyARegion) {
  for (const char* labels :
       {"s3express-control.eu-west-1", "s3express-control.dualstack.eu-west-1",
        "s3express-control-fips.eu-west-1", "s3express-control-fips.dualstack.eu-west-1"}) {
    const DirectoryHost host = ParseDirectoryHost(labels);
    EXPECT_EQ(host.endpoint, kControl) << labels;
    EXPECT_EQ(host.region, "eu-west-1") << labels;
  }
}

TEST(DirectoryHostTest, OtherHostsAreNotDirectoryEndpoints) {
  for (const char* labels :
       {"", "us-east-1", "s3.us-east-1", "b.s3.us-east-1", "s3express-use1-az4",
        "s3express-use1-az4.nowhere-1", "s3express-nozone.us-east-1",
        "b.s3express-control.us-east-1", "xs3express-use1-az4.us-east-1"}) {
    EXPECT_EQ(ParseDirectoryHost(labels).endpoint, kNone) << labels;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
