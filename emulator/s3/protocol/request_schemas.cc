#include "emulator/s3/protocol/request_schemas.h"

#include <array>

namespace penstock::emulator::s3 {
namespace {

using enum Occurs;

constexpr Field Text(std::string_view name, Occurs occurs = kOnce) {
  return {name, occurs, FieldType::kText};
}
constexpr Field Integer(std::string_view name, Occurs occurs = kOnce) {
  return {name, occurs, FieldType::kInteger};
}
constexpr Field Flag(std::string_view name, Occurs occurs = kOnce) {
  return {name, occurs, FieldType::kFlag};
}
constexpr Field Date(std::string_view name, Occurs occurs = kOnce) {
  return {name, occurs, FieldType::kDate};
}
constexpr Field Choice(std::string_view name, std::string_view choices, Occurs occurs = kOnce) {
  return {name, occurs, FieldType::kChoice, {}, choices};
}
constexpr Field Group(std::string_view name, std::span<const Field> fields, Occurs occurs = kOnce) {
  return {name, occurs, FieldType::kGroup, fields};
}

constexpr Field NotImplemented(std::string_view name) {
  return {name, kAtMostOnce, FieldType::kNotImplemented};
}

constexpr std::string_view kSwitch = "Enabled Disabled";

// Shared parts.
constexpr Field kTag[] = {Text("Key"), Text("Value")};
constexpr Field kTagSet[] = {Group("Tag", kTag, kAnyNumber)};
constexpr Field kStatus[] = {Choice("Status", kSwitch)};
constexpr Field kMinutes[] = {Integer("Minutes")};
constexpr Field kGrantee[] = {Text("ID", kAtMostOnce), Text("DisplayName", kAtMostOnce),
                              Text("EmailAddress", kAtMostOnce), Text("URI", kAtMostOnce)};
constexpr Field kGranteeField{"Grantee", kOnce, FieldType::kGrantee, kGrantee,
                              "CanonicalUser AmazonCustomerByEmail Group"};
constexpr Field kGrant[] = {kGranteeField,
                            Choice("Permission", "FULL_CONTROL WRITE WRITE_ACP READ READ_ACP")};
constexpr Field kGrants[] = {Group("Grant", kGrant, kAnyNumber)};
constexpr Field kFilterAnd[] = {Text("Prefix", kAtMostOnce), Group("Tag", kTag, kAnyNumber)};
constexpr Field kFilter[] = {Text("Prefix", kAtMostOnce), Group("Tag", kTag, kAtMostOnce),
                             Group("And", kFilterAnd, kAtMostOnce)};

constexpr Field kAbac[] = {Choice("Status", "Enabled Disabled", kAtMostOnce)};

constexpr Field kAccelerate[] = {Choice("Status", "Enabled Suspended")};

constexpr Field kOwner[] = {Text("ID", kAtMostOnce), Text("DisplayName", kAtMostOnce)};
constexpr Field kAcl[] = {Group("Owner", kOwner), Group("AccessControlList", kGrants)};

constexpr Field kAnalyticsBucket[] = {Choice("Format", "CSV"), Text("BucketAccountId", kAtMostOnce),
                                      Text("Bucket"), Text("Prefix", kAtMostOnce)};
constexpr Field kAnalyticsDestination[] = {Group("S3BucketDestination", kAnalyticsBucket)};
constexpr Field kDataExport[] = {Choice("OutputSchemaVersion", "V_1"),
                                 Group("Destination", kAnalyticsDestination)};
constexpr Field kStorageClassAnalysis[] = {Group("DataExport", kDataExport, kAtMostOnce)};
constexpr Field kAnalytics[] = {Text("Id"), Group("Filter", kFilter, kAtMostOnce),
                                Group("StorageClassAnalysis", kStorageClassAnalysis)};

constexpr Field kPart[] = {Text("PartNumber"),
                           Text("ETag"),
                           Text("ChecksumCRC32", kAtMostOnce),
                           Text("ChecksumCRC32C", kAtMostOnce),
                           Text("ChecksumCRC64NVME", kAtMostOnce),
                           Text("ChecksumSHA1", kAtMostOnce),
                           Text("ChecksumSHA256", kAtMostOnce),
                           Text("ChecksumSHA512", kAtMostOnce),
                           Text("ChecksumMD5", kAtMostOnce),
                           Text("ChecksumXXHASH64", kAtMostOnce),
                           Text("ChecksumXXHASH3", kAtMostOnce),
                           Text("ChecksumXXHASH128", kAtMostOnce)};
constexpr Field kCompleteUpload[] = {Group("Part", kPart, kAnyNumber)};

constexpr Field kCorsRule[] = {Text("ID", kAtMostOnce),
                               Text("AllowedHeader", kAnyNumber),
                               Text("AllowedMethod", kOnceOrMore),
                               Text("AllowedOrigin", kOnceOrMore),
                               Text("ExposeHeader", kAnyNumber),
                               Integer("MaxAgeSeconds", kAtMostOnce)};
constexpr Field kCors[] = {Group("CORSRule", kCorsRule, kOnceOrMore)};

constexpr Field kLocation[] = {Text("Type", kAtMostOnce), Text("Name", kAtMostOnce)};
constexpr Field kBucketInfo[] = {Text("DataRedundancy", kAtMostOnce), Text("Type", kAtMostOnce)};
constexpr Field kCreateBucketFields[] = {
    Text("LocationConstraint", kAtMostOnce), Group("Location", kLocation, kAtMostOnce),
    Group("Bucket", kBucketInfo, kAtMostOnce), Group("Tags", kTagSet, kAtMostOnce)};

constexpr Field kDeletedObject[] = {
    Text("Key"), Text("VersionId", kAtMostOnce), Text("ETag", kAtMostOnce),
    Text("LastModifiedTime", kAtMostOnce), Text("Size", kAtMostOnce)};
constexpr Field kDelete[] = {Text("Quiet", kAtMostOnce),
                             Group("Object", kDeletedObject, kOnceOrMore)};

constexpr Field kDefaultEncryption[] = {Choice("SSEAlgorithm", "AES256 aws:kms aws:kms:dsse"),
                                        Text("KMSMasterKeyID", kAtMostOnce)};
constexpr Field kBlockedTypes[] = {Choice("EncryptionType", "NONE SSE-C", kOnceOrMore)};
constexpr Field kEncryptionRule[] = {
    Group("ApplyServerSideEncryptionByDefault", kDefaultEncryption, kAtMostOnce),
    Flag("BucketKeyEnabled", kAtMostOnce),
    Group("BlockedEncryptionTypes", kBlockedTypes, kAtMostOnce)};
constexpr Field kEncryption[] = {Group("Rule", kEncryptionRule)};

constexpr Field kTiering[] = {Integer("Days"),
                              Choice("AccessTier", "ARCHIVE_ACCESS DEEP_ARCHIVE_ACCESS")};
constexpr Field kIntelligentTiering[] = {Text("Id"), Group("Filter", kFilter, kAtMostOnce),
                                         Choice("Status", kSwitch),
                                         Group("Tiering", kTiering, kOnceOrMore)};

constexpr Field kKmsKey[] = {Text("KeyId")};
constexpr Field kInventoryEncryption[] = {Group("SSE-S3", {}, kAtMostOnce),
                                          Group("SSE-KMS", kKmsKey, kAtMostOnce)};
constexpr Field kInventoryBucket[] = {
    Text("AccountId", kAtMostOnce), Text("Bucket"), Choice("Format", "CSV ORC Parquet"),
    Text("Prefix", kAtMostOnce), Group("Encryption", kInventoryEncryption, kAtMostOnce)};
constexpr Field kInventoryDestination[] = {Group("S3BucketDestination", kInventoryBucket)};
constexpr Field kInventoryFilter[] = {Text("Prefix")};
constexpr Field kOptionalFields[] = {Choice(
    "Field",
    "Size LastModifiedDate StorageClass ETag IsMultipartUploaded ReplicationStatus "
    "EncryptionStatus "
    "ObjectLockRetainUntilDate ObjectLockMode ObjectLockLegalHoldStatus "
    "ObjectLockEventHoldStatus ObjectLockEventHoldDuration "
    "IntelligentTieringAccessTier IntelligentTieringReferenceDate "
    "BucketKeyStatus ChecksumAlgorithm ObjectAccessControlList ObjectOwner LifecycleExpirationDate",
    kAnyNumber)};
constexpr Field kSchedule[] = {Choice("Frequency", "Daily Weekly")};
constexpr Field kInventory[] = {Group("Destination", kInventoryDestination),
                                Flag("IsEnabled"),
                                Group("Filter", kInventoryFilter, kAtMostOnce),
                                Text("Id"),
                                Choice("IncludedObjectVersions", "All Current"),
                                Group("OptionalFields", kOptionalFields, kAtMostOnce),
                                Group("Schedule", kSchedule)};

constexpr std::string_view kColdClasses =
    "GLACIER STANDARD_IA ONEZONE_IA INTELLIGENT_TIERING DEEP_ARCHIVE GLACIER_IR";
constexpr Field kLifecycleAnd[] = {Text("Prefix", kAtMostOnce), Group("Tag", kTag, kAnyNumber),
                                   Integer("ObjectSizeGreaterThan", kAtMostOnce),
                                   Integer("ObjectSizeLessThan", kAtMostOnce)};
constexpr Field kLifecycleFilter[] = {Text("Prefix", kAtMostOnce), Group("Tag", kTag, kAtMostOnce),
                                      Integer("ObjectSizeGreaterThan", kAtMostOnce),
                                      Integer("ObjectSizeLessThan", kAtMostOnce),
                                      Group("And", kLifecycleAnd, kAtMostOnce)};
constexpr Field kExpiration[] = {Date("Date", kAtMostOnce), Integer("Days", kAtMostOnce),
                                 Flag("ExpiredObjectDeleteMarker", kAtMostOnce)};
constexpr Field kTransition[] = {Date("Date", kAtMostOnce), Integer("Days", kAtMostOnce),
                                 Choice("StorageClass", kColdClasses)};
constexpr Field kNoncurrentTransition[] = {Integer("NewerNoncurrentVersions", kAtMostOnce),
                                           Integer("NoncurrentDays"),
                                           Choice("StorageClass", kColdClasses)};
constexpr Field kNoncurrentExpiration[] = {Integer("NewerNoncurrentVersions", kAtMostOnce),
                                           Integer("NoncurrentDays")};
constexpr Field kAbort[] = {Integer("DaysAfterInitiation")};
constexpr Field kLifecycleRule[] = {
    Text("ID", kAtMostOnce),
    Text("Prefix", kAtMostOnce),
    Group("Filter", kLifecycleFilter, kAtMostOnce),
    Choice("Status", kSwitch),
    Group("Transition", kTransition, kAnyNumber),
    Group("Expiration", kExpiration, kAtMostOnce),
    Group("NoncurrentVersionTransition", kNoncurrentTransition, kAnyNumber),
    Group("NoncurrentVersionExpiration", kNoncurrentExpiration, kAtMostOnce),
    Group("AbortIncompleteMultipartUpload", kAbort, kAtMostOnce)};
constexpr Field kLifecycle[] = {Group("Rule", kLifecycleRule, kOnceOrMore)};

constexpr Field kPartitionedPrefix[] = {
    Choice("PartitionDateSource", "EventTime DeliveryTime", kAtMostOnce)};
constexpr Field kKeyFormat[] = {Group("SimplePrefix", {}, kAtMostOnce),
                                Group("PartitionedPrefix", kPartitionedPrefix, kAtMostOnce)};
// Recorded against Amazon S3: READ_ACP is accepted, although the service model lacks it.
constexpr Field kLogGrant[] = {kGranteeField,
                               Choice("Permission", "FULL_CONTROL READ READ_ACP WRITE")};
constexpr Field kLogGrants[] = {Group("Grant", kLogGrant, kAnyNumber)};
constexpr Field kLoggingEnabled[] = {Text("TargetBucket"), Text("TargetPrefix"),
                                     Group("TargetGrants", kLogGrants, kAtMostOnce),
                                     Group("TargetObjectKeyFormat", kKeyFormat, kAtMostOnce)};
constexpr Field kLogging[] = {Group("LoggingEnabled", kLoggingEnabled, kAtMostOnce)};

constexpr Field kMetricsAnd[] = {Text("Prefix", kAtMostOnce), Group("Tag", kTag, kAnyNumber),
                                 Text("AccessPointArn", kAtMostOnce)};
constexpr Field kMetricsFilter[] = {Text("Prefix", kAtMostOnce), Group("Tag", kTag, kAtMostOnce),
                                    Text("AccessPointArn", kAtMostOnce),
                                    Group("And", kMetricsAnd, kAtMostOnce)};
constexpr Field kMetrics[] = {Text("Id"), Group("Filter", kMetricsFilter, kAtMostOnce)};

constexpr Field kFilterRule[] = {Text("Name"), Text("Value")};
constexpr Field kS3Key[] = {Group("FilterRule", kFilterRule, kAnyNumber)};
constexpr Field kKeyFilter[] = {Group("S3Key", kS3Key, kAtMostOnce)};
// A notification destination; `element` is its name.
constexpr std::array<Field, 4> EventsTo(std::string_view element) {
  return {Text("Id", kAtMostOnce), Text(element), Text("Event", kOnceOrMore),
          Group("Filter", kKeyFilter, kAtMostOnce)};
}
constexpr auto kTopic = EventsTo("Topic");
constexpr auto kQueue = EventsTo("Queue");
constexpr auto kFunction = EventsTo("CloudFunction");
constexpr Field kNotification[] = {Group("TopicConfiguration", kTopic, kAnyNumber),
                                   Group("QueueConfiguration", kQueue, kAnyNumber),
                                   Group("CloudFunctionConfiguration", kFunction, kAnyNumber),
                                   Group("EventBridgeConfiguration", {}, kAtMostOnce)};

constexpr Field kObjectKms[] = {Text("KMSKeyArn"), Flag("BucketKeyEnabled", kAtMostOnce)};
constexpr Field kObjectEncryption[] = {Group("SSE-KMS", kObjectKms, kAtMostOnce)};

constexpr Field kDefaultRetention[] = {Choice("Mode", "GOVERNANCE COMPLIANCE"),
                                       Integer("Days", kAtMostOnce), Integer("Years", kAtMostOnce),
                                       NotImplemented("DefaultEventHold")};
constexpr Field kLockRule[] = {Group("DefaultRetention", kDefaultRetention)};
constexpr Field kObjectLock[] = {Choice("ObjectLockEnabled", "Enabled"),
                                 Group("Rule", kLockRule, kAtMostOnce)};

constexpr Field kRetention[] = {Choice("Mode", "GOVERNANCE COMPLIANCE", kAtMostOnce),
                                Date("RetainUntilDate", kAtMostOnce), NotImplemented("EventHold"),
                                NotImplemented("EventHoldDuration")};
constexpr Field kLegalHold[] = {Choice("Status", "ON OFF")};

constexpr Field kOwnershipRule[] = {
    Choice("ObjectOwnership", "BucketOwnerPreferred ObjectWriter BucketOwnerEnforced")};
constexpr Field kOwnership[] = {Group("Rule", kOwnershipRule)};

constexpr Field kPublicAccessBlock[] = {
    Flag("BlockPublicAcls", kAtMostOnce), Flag("IgnorePublicAcls", kAtMostOnce),
    Flag("BlockPublicPolicy", kAtMostOnce), Flag("RestrictPublicBuckets", kAtMostOnce)};

constexpr Field kCriteria[] = {Group("SseKmsEncryptedObjects", kStatus, kAtMostOnce),
                               Group("ReplicaModifications", kStatus, kAtMostOnce)};
constexpr Field kTranslation[] = {Choice("Owner", "Destination")};
constexpr Field kReplicaEncryption[] = {Text("ReplicaKmsKeyID", kAtMostOnce),
                                        Group("UseSourceMultiRegionKey", kStatus, kAtMostOnce)};
constexpr Field kReplicationTime[] = {Choice("Status", kSwitch), Group("Time", kMinutes)};
constexpr Field kReplicationMetrics[] = {Choice("Status", kSwitch),
                                         Group("EventThreshold", kMinutes, kAtMostOnce)};
constexpr Field kReplicaDestination[] = {
    Text("Bucket"),
    Text("Account", kAtMostOnce),
    Choice("StorageClass",
           "STANDARD REDUCED_REDUNDANCY STANDARD_IA ONEZONE_IA INTELLIGENT_TIERING GLACIER "
           "DEEP_ARCHIVE OUTPOSTS GLACIER_IR",
           kAtMostOnce),
    Group("AccessControlTranslation", kTranslation, kAtMostOnce),
    Group("EncryptionConfiguration", kReplicaEncryption, kAtMostOnce),
    Group("ReplicationTime", kReplicationTime, kAtMostOnce),
    Group("Metrics", kReplicationMetrics, kAtMostOnce)};
constexpr Field kMarkerReplication[] = {Choice("Status", kSwitch, kAtMostOnce)};
constexpr Field kReplicationRule[] = {
    Text("ID", kAtMostOnce),
    Integer("Priority", kAtMostOnce),
    Text("Prefix", kAtMostOnce),
    Group("Filter", kFilter, kAtMostOnce),
    Choice("Status", kSwitch),
    Group("SourceSelectionCriteria", kCriteria, kAtMostOnce),
    Group("ExistingObjectReplication", kStatus, kAtMostOnce),
    Group("DeleteMarkerReplication", kMarkerReplication, kAtMostOnce),
    Group("Destination", kReplicaDestination)};
constexpr Field kReplication[] = {Text("Role"), Group("Rule", kReplicationRule, kOnceOrMore)};

constexpr Field kRequestPayment[] = {Choice("Payer", "Requester BucketOwner")};

constexpr std::string_view kTiers = "Standard Bulk Expedited";
constexpr Field kGlacierJob[] = {Choice("Tier", kTiers)};
constexpr Field kRestore[] = {
    Integer("Days", kAtMostOnce),          Group("GlacierJobParameters", kGlacierJob, kAtMostOnce),
    Choice("Type", "SELECT", kAtMostOnce), Choice("Tier", kTiers, kAtMostOnce),
    Text("Description", kAtMostOnce),      NotImplemented("SelectParameters"),
    NotImplemented("OutputLocation")};

constexpr Field kTagging[] = {Group("TagSet", kTagSet, kAtMostOnce)};

constexpr Field kVersioning[] = {Choice("Status", "Enabled Suspended", kAtMostOnce),
                                 Choice("MfaDelete", kSwitch, kAtMostOnce)};

constexpr Field kIndexDocument[] = {Text("Suffix")};
constexpr Field kErrorDocument[] = {Text("Key")};
constexpr Field kRedirectAll[] = {Text("HostName"), Text("Protocol", kAtMostOnce)};
constexpr Field kCondition[] = {Text("HttpErrorCodeReturnedEquals", kAtMostOnce),
                                Text("KeyPrefixEquals", kAtMostOnce)};
constexpr Field kRedirect[] = {Text("Protocol", kAtMostOnce), Text("HostName", kAtMostOnce),
                               Text("ReplaceKeyPrefixWith", kAtMostOnce),
                               Text("ReplaceKeyWith", kAtMostOnce),
                               Text("HttpRedirectCode", kAtMostOnce)};
constexpr Field kRoutingRule[] = {Group("Condition", kCondition, kAtMostOnce),
                                  Group("Redirect", kRedirect)};
constexpr Field kRoutingRules[] = {Group("RoutingRule", kRoutingRule, kOnceOrMore)};
constexpr Field kWebsite[] = {Group("RedirectAllRequestsTo", kRedirectAll, kAtMostOnce),
                              Group("IndexDocument", kIndexDocument, kAtMostOnce),
                              Group("ErrorDocument", kErrorDocument, kAtMostOnce),
                              Group("RoutingRules", kRoutingRules, kAtMostOnce)};

}  // namespace

constinit const Field kAbacSchema = Group("AbacStatus", kAbac);
constinit const Field kAccelerateSchema = Group("AccelerateConfiguration", kAccelerate);
constinit const Field kAclSchema = Group("AccessControlPolicy", kAcl);
constinit const Field kAnalyticsSchema = Group("AnalyticsConfiguration", kAnalytics);
constinit const Field kCompleteUploadSchema = Group("CompleteMultipartUpload", kCompleteUpload);
constinit const Field kCorsSchema = Group("CORSConfiguration", kCors);
constinit const Field kCreateBucketSchema = Group("CreateBucketConfiguration", kCreateBucketFields);
constinit const Field kDeleteSchema = Group("Delete", kDelete);
constinit const Field kEncryptionSchema = Group("ServerSideEncryptionConfiguration", kEncryption);
constinit const Field kIntelligentTieringSchema =
    Group("IntelligentTieringConfiguration", kIntelligentTiering);
constinit const Field kInventorySchema = Group("InventoryConfiguration", kInventory);
constinit const Field kLegalHoldSchema = Group("LegalHold", kLegalHold);
constinit const Field kLifecycleSchema = Group("LifecycleConfiguration", kLifecycle);
constinit const Field kLoggingSchema = Group("BucketLoggingStatus", kLogging);
constinit const Field kMetricsSchema = Group("MetricsConfiguration", kMetrics);
constinit const Field kNotificationSchema = Group("NotificationConfiguration", kNotification);
constinit const Field kObjectEncryptionSchema = Group("ObjectEncryption", kObjectEncryption);
constinit const Field kObjectLockSchema = Group("ObjectLockConfiguration", kObjectLock);
constinit const Field kOwnershipSchema = Group("OwnershipControls", kOwnership);
constinit const Field kPublicAccessBlockSchema =
    Group("PublicAccessBlockConfiguration", kPublicAccessBlock);
constinit const Field kReplicationSchema = Group("ReplicationConfiguration", kReplication);
constinit const Field kRequestPaymentSchema = Group("RequestPaymentConfiguration", kRequestPayment);
constinit const Field kRestoreSchema = Group("RestoreRequest", kRestore);
constinit const Field kRetentionSchema = Group("Retention", kRetention);
constinit const Field kTaggingSchema = Group("Tagging", kTagging);
constinit const Field kVersioningSchema = Group("VersioningConfiguration", kVersioning);
constinit const Field kWebsiteSchema = Group("WebsiteConfiguration", kWebsite);

}  // namespace penstock::emulator::s3
