#include "client/s3/verbs/delete_object.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(DeleteObjectTest, SendsKeyAndVersion) {
  DeleteObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("a/b")};
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/a/b\n\n");
  request.version_id = VersionId("v");
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/a/b?versionId=v\n\n");
}

TEST(DeleteObjectTest, SendsIfMatch) {
  DeleteObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k")};
  request.if_match = ETag("e1");
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/k\nIf-Match: \"e1\"\n\n");
}

TEST(DeleteObjectTest, AnEmptyKeyNeverBecomesDeleteBucket) {
  const DeleteObjectRequest request{.bucket = BucketName("b")};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(DeleteObjectTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(DeleteObjectRequest{}, Answer("", {}, 204)).ok());
}

}  // namespace
}  // namespace penstock::s3
