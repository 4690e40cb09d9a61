// The configurations of a bucket: versioning and tags as values, all others as documents.
//
// Only Client has these operations, not ObjectStore.
#ifndef PENSTOCK_BUCKET_CONFIGURATION_H_
#define PENSTOCK_BUCKET_CONFIGURATION_H_

#include <optional>
#include <string>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// One kind per sub-resource of a bucket. The comments name the root of the document.
enum class BucketConfigurationKind {
  kAccelerate,          // AccelerateConfiguration
  kAcl,                 // AccessControlPolicy
  kAnalytics,           // AnalyticsConfiguration; needs an id
  kCors,                // CORSConfiguration
  kEncryption,          // ServerSideEncryptionConfiguration
  kIntelligentTiering,  // IntelligentTieringConfiguration; needs an id
  kInventory,           // InventoryConfiguration; needs an id
  kLifecycle,           // LifecycleConfiguration
  kLocation,            // LocationConstraint; can only be read
  kLogging,             // BucketLoggingStatus
  kMetrics,             // MetricsConfiguration; needs an id
  kNotification,        // NotificationConfiguration
  kObjectLock,          // ObjectLockConfiguration
  kOwnershipControls,   // OwnershipControls
  kPolicy,              // JSON
  kPolicyStatus,        // PolicyStatus; can only be read
  kPublicAccessBlock,   // PublicAccessBlockConfiguration
  kReplication,         // ReplicationConfiguration
  kRequestPayment,      // RequestPaymentConfiguration
  kTagging,             // Tagging
  kVersioning,          // VersioningConfiguration
  kWebsite,             // WebsiteConfiguration
};

struct BucketConfiguration {
  std::string document = {};  // As received: XML, or JSON for kPolicy.
};

// A bucket without the configuration returns kNotFound, for example NoSuchLifecycleConfiguration,
// or a document without content, such as <VersioningConfiguration/> (kVersioning, kLogging,
// kNotification, kAccelerate). The document is not checked for its content, only for completeness:
// an incomplete one is kUnavailable, a page or a listing kUnsupported.
struct GetBucketConfigurationRequest {
  using Response = BucketConfiguration;
  BucketName bucket;
  BucketConfigurationKind kind = BucketConfigurationKind::kVersioning;
  std::string id = {};  // Of the kinds that have several configurations per bucket.
  CallOptions options = {};
};
// Replaces the configuration. The document is sent unchanged.
struct PutBucketConfigurationRequest {
  using Response = NoResponse;
  BucketName bucket;
  BucketConfigurationKind kind = BucketConfigurationKind::kVersioning;
  std::string document = {};
  std::string id = {};
  CallOptions options = {};
};
// Returns kInvalidArgument for kinds that S3 cannot delete, for example kVersioning.
struct DeleteBucketConfigurationRequest {
  using Response = NoResponse;
  BucketName bucket;
  BucketConfigurationKind kind = BucketConfigurationKind::kTagging;
  std::string id = {};
  CallOptions options = {};
};

enum class BucketVersioning { kNever, kEnabled, kSuspended };
struct GetBucketVersioningResponse {
  BucketVersioning status = BucketVersioning::kNever;
  bool mfa_delete = false;
};
struct GetBucketVersioningRequest {
  using Response = GetBucketVersioningResponse;
  BucketName bucket;
  CallOptions options = {};
};
struct PutBucketVersioningRequest {
  using Response = NoResponse;
  BucketName bucket;
  BucketVersioning status = BucketVersioning::kEnabled;  // kEnabled or kSuspended.
  CallOptions options = {};
};

struct GetBucketTaggingResponse {
  std::vector<Tag> tags;
};
// A bucket without tags returns kNotFound (NoSuchTagSet).
struct GetBucketTaggingRequest {
  using Response = GetBucketTaggingResponse;
  BucketName bucket;
  CallOptions options = {};
};
// Replaces all tags. DeleteBucketConfigurationRequest with kTagging removes them.
struct PutBucketTaggingRequest {
  using Response = NoResponse;
  BucketName bucket;
  std::vector<Tag> tags = {};
  CallOptions options = {};
};

}  // namespace penstock

#endif  // PENSTOCK_BUCKET_CONFIGURATION_H_
