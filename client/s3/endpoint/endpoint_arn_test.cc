#include "client/s3/endpoint/endpoint_arn.h"

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

TEST(EndpointArnTest, ParsesSixPartsAndResourceComponents) {
  const auto arn = ParseArn("arn:aws:s3:us-west-2:123456789012:accesspoint/point:more/x");
  ASSERT_TRUE(arn);
  EXPECT_EQ(arn->partition, "aws");
  EXPECT_EQ(arn->service, "s3");
  EXPECT_EQ(arn->region, "us-west-2");
  EXPECT_EQ(arn->account, "123456789012");
  EXPECT_EQ(arn->resource, (std::vector<std::string>{"accesspoint", "point", "more", "x"}));
  EXPECT_EQ(*arn->Component(1), "point");
  EXPECT_EQ(arn->Component(4), nullptr);
}

TEST(EndpointArnTest, RegionAndAccountMayBeEmptyOthersNot) {
  EXPECT_TRUE(ParseArn("arn:aws:s3:::bucket"));
  for (const char* text : {"arn:aws:s3:::", "arn::s3:::b", "arn:aws::r:a:b", "arn:aws:s3", "arn",
                           "aws:s3:r:a:b:c", ""}) {
    EXPECT_FALSE(ParseArn(text)) << text;
  }
}

TEST(EndpointArnTest, AnOutpostsAliasContainsAnId) {
  EXPECT_TRUE(IsOutpostsAlias("test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3"));
  EXPECT_FALSE(IsOutpostsAlias("short--op-s3"));
}

}  // namespace
}  // namespace penstock::s3
