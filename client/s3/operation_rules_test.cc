#include "client/s3/operation_rules.h"

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

TEST(OperationRulesTest, BucketOperationsAreControlOperations) {
  for (const Operation operation : {Operation::kCreateBucket, Operation::kDeleteBucket}) {
    EXPECT_TRUE(RulesOf(operation).express_control);
    EXPECT_TRUE(RulesOf(operation).plain_auth);
    EXPECT_TRUE(RulesOf(operation).never_accelerated);
  }
  EXPECT_TRUE(RulesOf(Operation::kCreateBucket).no_access_points);
  EXPECT_TRUE(RulesOf(Operation::kListBuckets).never_accelerated);
}

TEST(OperationRulesTest, CopiesAreSignedWithTheClientsCredentials) {
  EXPECT_TRUE(RulesOf(Operation::kCopyObject).plain_auth);
  EXPECT_TRUE(RulesOf(Operation::kUploadPartCopy).plain_auth);
  EXPECT_EQ(RulesOf(Operation::kGetObject), OperationRules{});
  EXPECT_EQ(RulesOf(Operation::kHeadBucket), OperationRules{});
}

}  // namespace
}  // namespace penstock::s3
