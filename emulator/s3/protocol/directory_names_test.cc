#include "emulator/s3/protocol/directory_names.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::emulator::s3 {
namespace {

TEST(DirectoryNamesTest, OnlyTheSuffixMarksDirectoryBuckets) {
  EXPECT_TRUE(IsDirectoryBucketName("logs--use1-az4--x-s3"));
  EXPECT_TRUE(IsDirectoryBucketName("nonsense--x-s3"));
  EXPECT_FALSE(IsDirectoryBucketName("logs--use1-az4--xa-s3"));
  EXPECT_FALSE(IsDirectoryBucketName("logs"));
}

TEST(DirectoryNamesTest, ZoneOfTriesTheLengthsThatSdksTry) {
  EXPECT_EQ(ZoneOf("logs--use1-az4--x-s3"), "use1-az4");                          // 8
  EXPECT_EQ(ZoneOf("logs--apne1-az4--x-s3"), "apne1-az4");                        // 9
  EXPECT_EQ(ZoneOf("logs--usw2-lax1-az1--x-s3"), "usw2-lax1-az1");                // 13
  EXPECT_EQ(ZoneOf("logs--apne1-tpe1-az1--x-s3"), "apne1-tpe1-az1");              // 14
  EXPECT_EQ(ZoneOf("logs--test1-longzone1-az12--x-s3"), "test1-longzone1-az12");  // 20
  EXPECT_EQ(ZoneOf("a--b--use1-az4--x-s3"), "use1-az4");
  EXPECT_EQ(ZoneOf("logs--use1-az12345--x-s3"), std::nullopt);
  EXPECT_EQ(ZoneOf("use1-az4--x-s3"), std::nullopt);
  EXPECT_EQ(ZoneOf("logs"), std::nullopt);
}

TEST(DirectoryNamesTest, ZoneIdsHaveAPlaceAndANumber) {
  for (const char* zone : {"use1-az4", "apne1-az4", "usw2-lax1-az1", "eun1-az12"})
    EXPECT_TRUE(IsZoneId(zone)) << zone;
  for (const char* zone : {"", "use1", "use1-az", "use-az4", "use1-bz4", "use1-az4-", "use1--az4",
                           "1use-az4", "use1-lax-az1", "use1-lax1-az1-az1"}) {
    EXPECT_FALSE(IsZoneId(zone)) << zone;
  }
  EXPECT_TRUE(IsLocalZone("usw2-lax1-az1"));
  EXPECT_FALSE(IsLocalZone("usw2-az1"));
}

TEST(DirectoryNamesTest, GoodNamesPass) {
  for (const std::string& name :
       {std::string("a--use1-az4--x-s3"), std::string("my-logs--usw2-lax1-az1--x-s3"),
        std::string("0--apne1-az1--x-s3"), std::string(47, 'a') + "--use1-az4--x-s3"}) {
    EXPECT_TRUE(CheckDirectoryBucketName(name).ok()) << name;
  }
}

// Returns the error message; empty if the name is valid.
std::string Refusal(const std::string& name) {
  const auto checked = CheckDirectoryBucketName(name);
  if (checked.ok()) return {};
  EXPECT_EQ(checked.error().code, "InvalidBucketName");
  return checked.error().message;
}

TEST(DirectoryNamesTest, BadNamesAreRefusedWithAReason) {
  EXPECT_NE(Refusal(std::string(48, 'a') + "--use1-az4--x-s3").find("64 characters"),
            std::string::npos);
  EXPECT_NE(Refusal("a.b--use1-az4--x-s3").find("'.'"), std::string::npos);
  EXPECT_NE(Refusal("Logs--use1-az4--x-s3").find("'L'"), std::string::npos);
  EXPECT_NE(Refusal("-logs--use1-az4--x-s3").find("must begin with"), std::string::npos);
  EXPECT_NE(Refusal("xn--logs--use1-az4--x-s3").find("'xn--'"), std::string::npos);
  EXPECT_NE(Refusal("sthree-logs--use1-az4--x-s3").find("'sthree-'"), std::string::npos);
  EXPECT_NE(Refusal("amzn-s3-demo-logs--use1-az4--x-s3").find("reserved"), std::string::npos);
  EXPECT_NE(Refusal("logs--x-s3").find("BASE--ZONE--x-s3"), std::string::npos);
  EXPECT_NE(Refusal("logs--zzzzzzzz--x-s3").find("zone"), std::string::npos);
  EXPECT_NE(Refusal("use1-az4--x-s3").find("zone"), std::string::npos);
  EXPECT_NE(Refusal("--use1-az4--x-s3"), "");
}

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
