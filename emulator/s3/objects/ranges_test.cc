#include "emulator/s3/objects/ranges.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

// Recorded against Amazon S3 with a 10-byte object.
TEST(RangesTest, RangesOfReads) {
  struct Case {
    const char* header;
    bool partial;
    ByteRange range;
  };
  const Case cases[] = {
      {"bytes=0-8", true, {0, 9}},
      {"bytes=1-1", true, {1, 2}},
      {"bytes=0-0", true, {0, 1}},
      {"bytes=1-", true, {1, 10}},
      {"bytes=-2", true, {8, 10}},
      {"bytes=-9", true, {1, 10}},
      {"bytes=-15", true, {0, 10}},
      {"bytes=0-100", true, {0, 10}},
      {"bytes=1-0", false, {0, 10}},
      {"bytes=-1-", false, {0, 10}},
      {"bytes=0--1", false, {0, 10}},
      {"bytes=-", false, {0, 10}},
      {"0-1", false, {0, 10}},
      {"bytes=0-1,3-4,7-9", false, {0, 10}},
      {"bytes=5-18446744073709551614", true, {5, 10}},  // Sent by s3torchconnector.
      {"bytes=5-99999999999999999999999", true, {5, 10}},
      {"items=0-1", false, {0, 10}},
      {"bytes=a-b", false, {0, 10}},
  };
  for (const Case& c : cases) {
    const auto choice = ChooseRange(c.header, 10);
    ASSERT_TRUE(choice.ok()) << c.header;
    EXPECT_EQ(choice->partial, c.partial) << c.header;
    EXPECT_EQ(choice->range, c.range) << c.header;
  }
}

TEST(RangesTest, UnsatisfiableRangesReturnTheSize) {
  for (const char* header : {"bytes=-0", "bytes=100-200", "bytes=10-", "bytes=10-10"}) {
    const auto choice = ChooseRange(header, 10);
    ASSERT_FALSE(choice.ok()) << header;
    EXPECT_EQ(choice.error().code, "InvalidRange");
    EXPECT_EQ(choice.error().details[0].second, header);
    EXPECT_EQ(choice.error().details[1].second, "10");
  }
}

// s3torchconnector relies on the 416.
TEST(RangesTest, EmptyObjectSatisfiesNoRange) {
  EXPECT_FALSE(ChooseRange("bytes=0-", 0).ok());
  EXPECT_FALSE(ChooseRange("bytes=0-8388607", 0).ok());
  EXPECT_FALSE(ChooseRange("bytes=-5", 0).ok());
  EXPECT_TRUE(ChooseRange("junk", 0).ok());
}

TEST(RangesTest, CopyRangesMustBeClosedAndInsideTheSource) {
  EXPECT_EQ(*ParseCopyRange("bytes=0-9", 10), (ByteRange{0, 10}));
  EXPECT_EQ(*ParseCopyRange("bytes=3-3", 10), (ByteRange{3, 4}));
  for (const char* bad :
       {"bytes=0-", "bytes=-5", "bytes=5-4", "0-9", "bytes=a-b", "bytes=0-1,2-3", ""}) {
    const auto range = ParseCopyRange(bad, 10);
    ASSERT_FALSE(range.ok()) << bad;
    EXPECT_EQ(range.error().code, "InvalidArgument") << bad;
    EXPECT_TRUE(
        range.error().message.starts_with("The x-amz-copy-source-range value must be of the form"))
        << bad;
  }
  const auto past = ParseCopyRange("bytes=0-100", 10);
  EXPECT_EQ(past.error().message, "Range specified is not valid for source object of size: 10");
  const auto outside = ParseCopyRange("bytes=100-200", 10);
  EXPECT_EQ(outside.error().code, "InvalidRequest");
  EXPECT_EQ(outside.error().message,
            "The specified copy range is invalid for the source object size");
}

TEST(RangesTest, ContentRangeIsInclusive) { EXPECT_EQ(ContentRange({0, 9}, 10), "bytes 0-8/10"); }

}  // namespace
}  // namespace penstock::emulator::s3
