#include "client/s3/model/operations.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

TEST(OperationsTest, EveryRowIsAtItsIndex) {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kOperations[i].operation), i) << kOperations[i].name;
  }
}

TEST(OperationsTest, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const OperationInfo& info : kOperations) names.insert(info.name);
  EXPECT_EQ(names.size(), kOperationCount);
}

TEST(OperationsTest, OnlyAlreadyDoneClassesHaveACode) {
  for (const OperationInfo& info : kOperations) {
    EXPECT_EQ(info.retry_class == RetryClass::kAlreadyDoneIsSuccess,
              !info.already_done_code.empty())
        << info.name;
  }
}

TEST(OperationsTest, ReadsUseReadMethodsAndWritesDoNot) {
  for (const OperationInfo& info : kOperations) {
    const bool reading_method = info.method == "GET" || info.method == "HEAD";
    EXPECT_EQ(info.retry_class == RetryClass::kRead, reading_method) << info.name;
  }
}

TEST(OperationsTest, PartialContentIsSuccessForReadsOfObjectsOnly) {
  for (const OperationInfo& info : kOperations) {
    const bool reads_object =
        info.operation == Operation::kGetObject || info.operation == Operation::kHeadObject;
    EXPECT_EQ(IsSuccess(info, 206), reads_object) << info.name;
  }
}

TEST(OperationsTest, BucketOperationsAreControlOperations) {
  for (const Operation operation : {Operation::kCreateBucket, Operation::kDeleteBucket}) {
    EXPECT_TRUE(Info(operation).rules.express_control);
    EXPECT_TRUE(Info(operation).rules.plain_auth);
    EXPECT_TRUE(Info(operation).rules.never_accelerated);
  }
  EXPECT_TRUE(Info(Operation::kCreateBucket).rules.no_access_points);
  EXPECT_TRUE(Info(Operation::kListBuckets).rules.never_accelerated);
}

TEST(OperationsTest, CopiesAreSignedWithTheClientsCredentials) {
  EXPECT_TRUE(Info(Operation::kCopyObject).rules.plain_auth);
  EXPECT_TRUE(Info(Operation::kUploadPartCopy).rules.plain_auth);
  EXPECT_EQ(Info(Operation::kGetObject).rules, OperationRules{});
  EXPECT_EQ(Info(Operation::kHeadBucket).rules, OperationRules{});
}

TEST(OperationsTest, OnlyACreatedBucketStaysInTheConfiguredRegion) {
  for (const OperationInfo& info : kOperations) {
    EXPECT_EQ(info.in_configured_region, info.operation == Operation::kCreateBucket) << info.name;
  }
}

}  // namespace
}  // namespace penstock::s3
