#include "emulator/s3/config/sub_resources.h"

#include <gtest/gtest.h>

#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kSelectors[] = {"accelerate",
                                           "analytics",
                                           "cors",
                                           "intelligent-tiering",
                                           "inventory",
                                           "lifecycle",
                                           "logging",
                                           "metrics",
                                           "notification",
                                           "object-lock",
                                           "ownershipControls",
                                           "publicAccessBlock",
                                           "replication",
                                           "requestPayment",
                                           "tagging",
                                           "website"};

TEST(SubResourcesTest, EveryRowHasAnOperationAndKnownCodes) {
  for (const std::string_view selector : kSelectors) {
    const SubResource* row = FindSubResource(selector);
    ASSERT_NE(row, nullptr) << selector;
    EXPECT_TRUE(IsKnownParameter(selector)) << selector;
    EXPECT_NE(row->schema, nullptr) << selector;
    for (const std::string_view code : {row->unset_code, row->deleted_code}) {
      if (!code.empty()) {
        EXPECT_NE(FindErrorInfo(code), nullptr) << code;
      }
    }
  }
  EXPECT_EQ(FindSubResource("acl"), nullptr);
}

TEST(SubResourcesTest, FindsStoredConfigurations) {
  store::BucketRecord bucket;
  bucket.configuration = {{"cors", "a"}, {"tagging", ""}};
  ASSERT_NE(FindConfiguration(bucket, "cors"), nullptr);
  EXPECT_EQ(*FindConfiguration(bucket, "cors"), "a");
  EXPECT_EQ(*FindConfiguration(bucket, "tagging"), "");
  EXPECT_EQ(FindConfiguration(bucket, "website"), nullptr);
}

}  // namespace
}  // namespace penstock::emulator::s3
