#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

TEST(DeleteObjectTest, UnversionedDeletesAreIdempotent) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "x");
  for (int i = 0; i < 2; ++i) {
    const Reply reply = s3.Send("DELETE /bucket/k");
    EXPECT_EQ(reply.Outcome(), "204");
    EXPECT_EQ(reply.Header("x-amz-delete-marker"), "<absent>");
    EXPECT_EQ(reply.Header("x-amz-version-id"), "<absent>");
    EXPECT_EQ(reply.body, "");
  }
  EXPECT_EQ(s3.Send("DELETE /absent/k").Outcome(), "404 NoSuchBucket");
}

TEST(DeleteObjectTest, DeleteMarkersHideTheObjectUntilTheyAreDeleted) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.SetVersioning("bucket", "Enabled");
  const std::string version = s3.Send("PUT /bucket/k", "x").Header("x-amz-version-id");
  const Reply hidden = s3.Send("DELETE /bucket/k");
  EXPECT_EQ(hidden.Header("x-amz-delete-marker"), "true");
  const std::string marker = hidden.Header("x-amz-version-id");
  EXPECT_EQ(s3.Send("GET /bucket/k").status, 404);
  const Reply undeleted = s3.Send("DELETE /bucket/k?versionId=" + marker);
  EXPECT_EQ(undeleted.Header("x-amz-delete-marker"), "true");
  EXPECT_EQ(undeleted.Header("x-amz-version-id"), marker);
  EXPECT_EQ(s3.Send("GET /bucket/k").body, "x");
  EXPECT_EQ(s3.Send("DELETE /bucket/k?versionId=" + version).Header("x-amz-version-id"), version);
  EXPECT_EQ(s3.Send("GET /bucket/k?versionId=" + version).Outcome(), "404 NoSuchVersion");
}

// Recorded against Amazon S3, in a bucket that never had versions. Deleting a version a second time
// succeeds instead.
TEST(DeleteObjectTest, IdsThatWereNeverIssuedAreRefused) {
  Harness s3;
  s3.Send("PUT /bucket");
  const std::string made_up = "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD";
  for (const char* method : {"DELETE", "GET"}) {
    const Reply reply = s3.Send(std::string(method) + " /bucket/k?versionId=" + made_up);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << method;
    EXPECT_EQ(reply.Element("Message"), "Invalid version id specified");
    EXPECT_EQ(reply.Element("ArgumentValue"), made_up);
  }
  EXPECT_EQ(s3.Send("HEAD /bucket/k?versionId=" + made_up).status, 400);
  s3.SetVersioning("bucket", "Enabled");
  const std::string version = s3.Send("PUT /bucket/k", "x").Header("x-amz-version-id");
  EXPECT_EQ(s3.Send("DELETE /bucket/k?versionId=" + version).Outcome(), "204");
  EXPECT_EQ(s3.Send("DELETE /bucket/k?versionId=" + version).Outcome(), "204");
  EXPECT_EQ(s3.Send("DELETE /bucket/k?versionId=" + version.substr(0, 28) + "ABCD").Outcome(),
            "400 InvalidArgument");
}

TEST(DeleteObjectTest, SuspendedBucketsGetANullDeleteMarker) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.SetVersioning("bucket", "Suspended");
  const Reply reply = s3.Send("DELETE /bucket/k");
  EXPECT_EQ(reply.Header("x-amz-delete-marker"), "true");
  EXPECT_EQ(reply.Header("x-amz-version-id"), "null");
}

}  // namespace
}  // namespace penstock::emulator::s3
