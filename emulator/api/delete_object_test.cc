#include <gtest/gtest.h>

#include "emulator/api/testing.h"

namespace penstock::emulator::api {
namespace {

using testing::Harness;
using testing::Reply;

// Spec §2.7 "DELETE without id", "DELETE with id".
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

TEST(DeleteObjectTest, MarkersHideAndTheirDeletionUndeletes) {
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

TEST(DeleteObjectTest, SuspendedBucketsGetANullMarker) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.SetVersioning("bucket", "Suspended");
  const Reply reply = s3.Send("DELETE /bucket/k");
  EXPECT_EQ(reply.Header("x-amz-delete-marker"), "true");
  EXPECT_EQ(reply.Header("x-amz-version-id"), "null");
}

}  // namespace
}  // namespace penstock::emulator::api
