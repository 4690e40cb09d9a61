// Schemas of the XML request bodies, from AWS's service model of S3.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_REQUEST_SCHEMAS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_REQUEST_SCHEMAS_H_

#include "emulator/s3/protocol/document_schema.h"

namespace penstock::emulator::s3 {

extern const Field kAbacSchema;
extern const Field kAccelerateSchema;
extern const Field kAclSchema;
extern const Field kAnalyticsSchema;
extern const Field kCompleteUploadSchema;
extern const Field kCorsSchema;
extern const Field kCreateBucketSchema;
extern const Field kDeleteSchema;
extern const Field kEncryptionSchema;
extern const Field kIntelligentTieringSchema;
extern const Field kInventorySchema;
extern const Field kLegalHoldSchema;
extern const Field kLifecycleSchema;
extern const Field kLoggingSchema;
extern const Field kMetricsSchema;
extern const Field kNotificationSchema;
extern const Field kObjectEncryptionSchema;
extern const Field kObjectLockSchema;
extern const Field kOwnershipSchema;
extern const Field kPublicAccessBlockSchema;
extern const Field kReplicationSchema;
extern const Field kRequestPaymentSchema;
extern const Field kRestoreSchema;
extern const Field kRetentionSchema;
extern const Field kTaggingSchema;
extern const Field kVersioningSchema;
extern const Field kWebsiteSchema;

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_REQUEST_SCHEMAS_H_
