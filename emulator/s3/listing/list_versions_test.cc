#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;
using Names = std::vector<std::string>;

class ListVersionsTest : public ::testing::Test {
 protected:
  ListVersionsTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/a", "null version");
    s3_.SetVersioning("bucket", "Enabled");
    second_ = s3_.Send("PUT /bucket/a", "second").Header("x-amz-version-id");
    marker_ = s3_.Send("DELETE /bucket/a").Header("x-amz-version-id");
    s3_.Send("PUT /bucket/b", "b");
  }
  Harness s3_;
  std::string second_, marker_;
};

TEST_F(ListVersionsTest, VersionsAreNewestFirstWithDeleteMarkersInterleaved) {
  const Reply reply = s3_.Send("GET /bucket?versions");
  EXPECT_EQ(reply.Elements("Key"), (Names{"a", "a", "a", "b"}));
  const Names versions = reply.Elements("VersionId");
  ASSERT_EQ(versions.size(), 4u);
  EXPECT_EQ(versions[0], marker_);
  EXPECT_EQ(versions[1], second_);
  EXPECT_EQ(versions[2], "null");
  EXPECT_EQ(reply.Elements("IsLatest"), (Names{"true", "false", "false", "true"}));
  EXPECT_LT(reply.body.find("<DeleteMarker>"), reply.body.find("<Version>"));
}

TEST_F(ListVersionsTest, PagesResumeAfterTheLastVersion) {
  const Reply page = s3_.Send("GET /bucket?versions&max-keys=2");
  EXPECT_EQ(page.Element("NextKeyMarker"), "a");
  EXPECT_EQ(page.Element("NextVersionIdMarker"), second_);
  const Reply rest = s3_.Send("GET /bucket?versions&key-marker=a&version-id-marker=" + second_);
  EXPECT_EQ(rest.Elements("Key"), (Names{"a", "b"}));
  EXPECT_EQ(s3_.Send("GET /bucket?versions&key-marker=a").Elements("Key"), Names{"b"});
}

TEST_F(ListVersionsTest, MarkersAreChecked) {
  EXPECT_EQ(s3_.Send("GET /bucket?versions&version-id-marker=null").Element("Message"),
            "A version-id marker cannot be specified without a key marker.");
  EXPECT_EQ(s3_.Send("GET /bucket?versions&max-keys=-1").Element("Message"),
            "max-keys cannot be negative");
  EXPECT_EQ(s3_.Send("GET /bucket?versions&key-marker=a&version-id-marker=x").Outcome(),
            "400 InvalidArgument");
}

}  // namespace
}  // namespace penstock::emulator::s3
