#include <gtest/gtest.h>

#include "emulator/api/testing.h"

namespace penstock::emulator::api {
namespace {

using testing::Harness;
using testing::Reply;

constexpr const char* kDocument = "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>";

class TaggingTest : public ::testing::Test {
 protected:
  TaggingTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k\nx-amz-tagging: a=1&b=2", "x");
  }
  Harness s3_;
};

TEST_F(TaggingTest, TagsOfThePutAreReadAndCounted) {
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging").Elements("Key"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-tagging-count"), "2");
}

// Spec §2.17: PUT 200, DELETE 204; §2.2: an empty set is a 200.
TEST_F(TaggingTest, TagsAreReplacedAndRemoved) {
  EXPECT_EQ(s3_.SendDocument("PUT /bucket/k?tagging", kDocument).Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging").Elements("Value"), (std::vector<std::string>{"v"}));
  EXPECT_EQ(s3_.Send("DELETE /bucket/k?tagging").Outcome(), "204");
  const Reply empty = s3_.Send("GET /bucket/k?tagging");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.Element("Key"), "<absent>");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-tagging-count"), "<absent>");
}

TEST_F(TaggingTest, PutNeedsAChecksumAndAnObject) {
  EXPECT_EQ(s3_.Send("PUT /bucket/k?tagging", kDocument).Element("Message"),
            "Missing required header for this request: Content-MD5 OR x-amz-checksum-*");
  EXPECT_EQ(s3_.SendDocument("PUT /bucket/absent?tagging", kDocument).Outcome(), "404 NoSuchKey");
}

}  // namespace
}  // namespace penstock::emulator::api
