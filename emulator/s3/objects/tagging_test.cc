#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

constexpr const char* kDocument =
    "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>";

class TaggingTest : public ::testing::Test {
 protected:
  TaggingTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k\nx-amz-tagging: a=1&b=2", "x");
  }
  Harness s3_;
};

TEST_F(TaggingTest, TagsOfAPutAreReturnedAndCounted) {
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging").Elements("Key"),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-tagging-count"), "2");
}

// PUT returns 200, DELETE returns 204, and an empty tag set is a 200.
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

TEST_F(TaggingTest, EveryVersionHasItsOwnTags) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string version = s3_.Send("PUT /bucket/k", "y").Header("x-amz-version-id");
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging&versionId=null").Elements("Key"),
            (std::vector<std::string>{"a", "b"}));
  const Reply put = s3_.SendDocument("PUT /bucket/k?tagging&versionId=null", kDocument);
  EXPECT_EQ(put.Header("x-amz-version-id"), "null");
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging").Header("x-amz-version-id"), version);
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging").Element("Key"), "<absent>");
  EXPECT_EQ(s3_.Send("DELETE /bucket/k?tagging&versionId=null").Header("x-amz-version-id"), "null");
  EXPECT_EQ(s3_.Send("GET /bucket/other?tagging&versionId=" + version).Outcome(),
            "404 NoSuchVersion");
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging&versionId=" + std::string(32, 'A')).Outcome(),
            "400 InvalidArgument");
}

TEST_F(TaggingTest, DeleteMarkersHaveNoTags) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string marker = s3_.Send("DELETE /bucket/k").Header("x-amz-version-id");
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    const Reply reply =
        s3_.SendDocument(std::string(method) + " /bucket/k?tagging&versionId=" + marker, kDocument);
    EXPECT_EQ(reply.Outcome(), "405 MethodNotAllowed") << method;
    EXPECT_EQ(reply.Element("ResourceType"), "DeleteMarker");
    EXPECT_EQ(reply.Header("Allow"), "DELETE");
    EXPECT_EQ(reply.Header("x-amz-delete-marker"), "true");
  }
}

// Recorded against Amazon S3: unlike reads of the object, these return 405 for a delete marker even
// without a version id.
TEST_F(TaggingTest, KeysHiddenByADeleteMarkerHaveNoTags) {
  s3_.SetVersioning("bucket", "Enabled");
  s3_.Send("DELETE /bucket/k");
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    const Reply reply = s3_.SendDocument(std::string(method) + " /bucket/k?tagging", kDocument);
    EXPECT_EQ(reply.Outcome(), "405 MethodNotAllowed") << method;
    EXPECT_EQ(reply.Element("Method"), method);
    EXPECT_EQ(reply.Element("ResourceType"), "DeleteMarker");
  }
}

TEST_F(TaggingTest, ErrorsOfMissingObjectsHaveTheRecordedKey) {
  EXPECT_EQ(s3_.Send("GET /bucket/absent?tagging").Element("Key"), "bucket/absent");
  EXPECT_EQ(s3_.Send("DELETE /bucket/absent?tagging").Element("Key"), "absent");
  EXPECT_EQ(s3_.SendDocument("PUT /bucket/absent?tagging", kDocument).Element("Key"), "absent");
}

}  // namespace
}  // namespace penstock::emulator::s3
