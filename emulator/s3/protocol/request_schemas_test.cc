#include "emulator/s3/protocol/request_schemas.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

void CheckField(const Field& field) {
  EXPECT_FALSE(field.name.empty());
  const bool group = field.type == FieldType::kGroup || field.type == FieldType::kGrantee;
  if (!group) {
    EXPECT_TRUE(field.fields.empty()) << field.name;
  }
  if (field.type == FieldType::kChoice) {
    EXPECT_FALSE(field.choices.empty()) << field.name;
  }
  for (const Field& child : field.fields) CheckField(child);
}

TEST(RequestSchemasTest, AreWellFormed) {
  for (const Field* root : {&kAccelerateSchema,
                            &kAclSchema,
                            &kAnalyticsSchema,
                            &kCompleteUploadSchema,
                            &kCorsSchema,
                            &kCreateBucketSchema,
                            &kDeleteSchema,
                            &kEncryptionSchema,
                            &kIntelligentTieringSchema,
                            &kInventorySchema,
                            &kLifecycleSchema,
                            &kLoggingSchema,
                            &kMetricsSchema,
                            &kNotificationSchema,
                            &kObjectLockSchema,
                            &kOwnershipSchema,
                            &kPublicAccessBlockSchema,
                            &kReplicationSchema,
                            &kRequestPaymentSchema,
                            &kTaggingSchema,
                            &kVersioningSchema,
                            &kWebsiteSchema}) {
    EXPECT_EQ(root->type, FieldType::kGroup) << root->name;
    EXPECT_FALSE(root->fields.empty()) << root->name;
    CheckField(*root);
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
