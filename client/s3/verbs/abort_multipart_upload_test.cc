#include "client/s3/verbs/abort_multipart_upload.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(AbortMultipartUploadTest, SendsTheUploadId) {
  const AbortMultipartUploadRequest request{
      .bucket = BucketName("b"), .key = ObjectKey("k"), .upload_id = UploadId("u/1")};
  EXPECT_EQ(Golden(BuildRequest(request, Context())), "DELETE /b/k?uploadId=u%2F1\n\n");
}

TEST(AbortMultipartUploadTest, WithoutAnIdItNeverBecomesDeleteObject) {
  const AbortMultipartUploadRequest request{.bucket = BucketName("b"), .key = ObjectKey("k")};
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(AbortMultipartUploadTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(AbortMultipartUploadRequest{}, Answer("", {}, 204)).ok());
}

}  // namespace
}  // namespace penstock::s3
