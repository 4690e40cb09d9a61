#include "client/s3/verbs/request_start.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(RequestStartTest, LongKeysAreRejectedWithTheirLength) {
  const BucketName bucket("b");
  EXPECT_TRUE(StartObjectRequest(Operation::kGetObject, bucket, ObjectKey(std::string(1024, 'k')),
                                 Context())
                  .ok());
  const auto longer = StartObjectRequest(Operation::kGetObject, bucket,
                                         ObjectKey(std::string(1025, 'k')), Context());
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.error().message.find("1025"), std::string::npos);
}

TEST(RequestStartTest, SendsRequesterPaysIfTheOperationAcceptsIt) {
  BuildContext context = Context();
  context.requester_pays = true;
  for (const OperationInfo& info : kOperations) {
    EXPECT_EQ(StartServiceRequest(info.operation, context).headers.size(),
              info.requester_pays ? 1u : 0u)
        << info.name;
  }
}

TEST(RequestStartTest, RejectsEmptyNames) {
  EXPECT_FALSE(StartBucketRequest(Operation::kListObjectsV2, BucketName(), Context()).ok());
  EXPECT_FALSE(
      StartObjectRequest(Operation::kGetObject, BucketName(), ObjectKey("k"), Context()).ok());
  EXPECT_FALSE(CheckUploadId(UploadId()).ok());
  EXPECT_FALSE(CopySource(BucketName("b"), ObjectKey()).ok());
}

TEST(RequestStartTest, TheCopySourceOfAnAccessPointUsesItsArn) {
  EXPECT_EQ(*CopySource(BucketName("arn:aws:s3:us-west-2:1:accesspoint/p"), ObjectKey("a b")),
            "arn%3Aaws%3As3%3Aus-west-2%3A1%3Aaccesspoint/p/object/a%20b");
}

TEST(RequestStartTest, PartNumbersHaveLimits) {
  EXPECT_TRUE(CheckPartNumber(1).ok());
  EXPECT_TRUE(CheckPartNumber(10'000).ok());
  EXPECT_FALSE(CheckPartNumber(0).ok());
  EXPECT_FALSE(CheckPartNumber(10'001).ok());
}

}  // namespace
}  // namespace penstock::s3
