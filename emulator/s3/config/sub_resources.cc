#include "emulator/s3/config/sub_resources.h"

#include <algorithm>
#include <iterator>

#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

using enum Checksum;

// API_PutBucketCors: "limited to 64 KB"; API_PutBucketWebsite: "limited to 128 KB".
constexpr std::uint64_t kMaxCorsBytes = 64 << 10;
constexpr std::uint64_t kMaxWebsiteBytes = 128 << 10;

constexpr std::string_view kNoConfiguration = "NoSuchConfiguration";

// The status of a PUT was recorded against Amazon S3. Required checksums follow AWS's service
// model.
constexpr SubResource kSubResources[] = {
    {"abac", &kAbacSchema, nullptr, "", "<Status>Disabled</Status>", "", kOptional},
    {"accelerate", &kAccelerateSchema, CheckAccelerate, "", "", "", kOptional},
    {"analytics", &kAnalyticsSchema, CheckAnalytics, kNoConfiguration, "", "", kOptional, 204,
     "ListBucketAnalyticsConfigurationResult"},
    {"cors", &kCorsSchema, CheckCors, "NoSuchCORSConfiguration", "", "", kRequired, 200, "",
     kMaxCorsBytes},
    {"intelligent-tiering", &kIntelligentTieringSchema, CheckIntelligentTiering, kNoConfiguration,
     "", "", kOptional, 204, "ListBucketIntelligentTieringConfigurationsOutput"},
    {"inventory", &kInventorySchema, CheckInventory, kNoConfiguration, "", "", kOptional, 204,
     "ListInventoryConfigurationsResult"},
    {"lifecycle", &kLifecycleSchema, CheckLifecycle, "NoSuchLifecycleConfiguration", "", ""},
    {"logging", &kLoggingSchema, CheckLogging, "", "", ""},
    {"metrics", &kMetricsSchema, CheckMetrics, kNoConfiguration, "", "", kOptional, 204,
     "ListMetricsConfigurationsResult"},
    {"notification", &kNotificationSchema, CheckNotification, "", "", "", kOptional},
    {"object-lock", &kObjectLockSchema, CheckObjectLock, "ObjectLockConfigurationNotFoundError", "",
     ""},
    {"ownershipControls", &kOwnershipSchema, CheckOwnership, "",
     "<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>",
     "OwnershipControlsNotFoundError"},
    {"publicAccessBlock", &kPublicAccessBlockSchema, CheckPublicAccessBlock, "",
     "<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>"
     "<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</"
     "RestrictPublicBuckets>",
     "NoSuchPublicAccessBlockConfiguration"},
    {"replication", &kReplicationSchema, CheckReplication, "ReplicationConfigurationNotFoundError",
     "", ""},
    {"requestPayment", &kRequestPaymentSchema, nullptr, "", "<Payer>BucketOwner</Payer>", ""},
    {"tagging", &kTaggingSchema, CheckTagging, "NoSuchTagSet", "", "", kRequired, 204},
    {"website", &kWebsiteSchema, CheckWebsite, "NoSuchWebsiteConfiguration", "", "", kRequired, 200,
     "", kMaxWebsiteBytes},
};

}  // namespace

const SubResource* FindSubResource(std::string_view selector) {
  const auto* found =
      std::find_if(std::begin(kSubResources), std::end(kSubResources),
                   [&](const SubResource& row) { return row.selector == selector; });
  return found == std::end(kSubResources) ? nullptr : found;
}

}  // namespace penstock::emulator::s3
