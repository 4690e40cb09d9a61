// What S3 stores beside an object: tags as values; ACL, retention and legal hold as documents. Also
// RestoreObject and GetObjectAttributes.
//
// Only Client has these operations, not ObjectStore.
#ifndef PENSTOCK_OBJECT_CONFIGURATION_H_
#define PENSTOCK_OBJECT_CONFIGURATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// The version that an operation on an object's configuration concerned. Empty: the bucket is not
// versioned.
struct ObjectConfigurationResponse {
  VersionId version_id;
};

struct GetObjectTaggingResponse {
  std::vector<Tag> tags;
  VersionId version_id;
};
// An object without tags returns an empty list.
struct GetObjectTaggingRequest {
  using Response = GetObjectTaggingResponse;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id = {};
  CallOptions options = {};
};
// Replaces all tags of the object.
struct PutObjectTaggingRequest {
  using Response = ObjectConfigurationResponse;
  BucketName bucket;
  ObjectKey key;
  std::vector<Tag> tags = {};
  VersionId version_id = {};
  CallOptions options = {};
};
struct DeleteObjectTaggingRequest {
  using Response = ObjectConfigurationResponse;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id = {};
  CallOptions options = {};
};

// The comments name the root of the document.
enum class ObjectConfigurationKind {
  kAcl,        // AccessControlPolicy
  kLegalHold,  // LegalHold
  kRetention,  // Retention
};
struct ObjectConfiguration {
  std::string document = {};  // As received.
};
struct GetObjectConfigurationRequest {
  using Response = ObjectConfiguration;
  BucketName bucket;
  ObjectKey key;
  ObjectConfigurationKind kind = ObjectConfigurationKind::kAcl;
  VersionId version_id = {};
  CallOptions options = {};
};
// The document is sent unchanged.
struct PutObjectConfigurationRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey key;
  ObjectConfigurationKind kind = ObjectConfigurationKind::kAcl;
  std::string document = {};
  // For kAcl, instead of a document: a canned ACL, for example "private".
  std::string canned_acl = {};
  VersionId version_id = {};
  bool bypass_governance_retention = false;  // For kRetention.
  CallOptions options = {};
};

struct RestoreObjectResponse {
  bool already_restored = false;  // Only the lifetime of the copy was changed.
};
// Restores a readable copy of an archived object. Returns when S3 has accepted the request;
// ObjectMetadata::restore reports the progress.
struct RestoreObjectRequest {
  using Response = RestoreObjectResponse;
  BucketName bucket;
  ObjectKey key;
  int days = 1;           // Lifetime of the copy. 0: not sent, for INTELLIGENT_TIERING.
  std::string tier = {};  // "Standard", "Bulk" or "Expedited". Empty: Standard.
  VersionId version_id = {};
  CallOptions options = {};
};

// One part of a multipart object.
struct ObjectPart {
  int part_number = 0;
  std::uint64_t size = 0;
  // {"crc32c", base64}, as in ObjectMetadata::checksums.
  std::vector<std::pair<std::string, std::string>> checksums;
};
struct GetObjectAttributesResponse {
  ETag etag;
  std::uint64_t size = 0;
  std::string storage_class;
  VersionId version_id;
  WallTime last_modified{};
  std::vector<std::pair<std::string, std::string>> checksums;  // Of the whole object.
  std::string checksum_type;        // "FULL_OBJECT" or "COMPOSITE". Empty: no checksum.
  int parts_count = 0;              // 0: not uploaded in parts.
  std::vector<ObjectPart> parts;    // S3 lists them only if they have checksums.
  int next_part_number_marker = 0;  // 0: the last page.
};
struct GetObjectAttributesRequest {
  using Response = GetObjectAttributesResponse;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id = {};
  int part_number_marker = 0;     // Parts up to this number are left out.
  int max_parts = 1000;           // 1 to 1000.
  CustomerKey customer_key = {};  // Of an object with SSE-C.
  CallOptions options = {};
};

}  // namespace penstock

#endif  // PENSTOCK_OBJECT_CONFIGURATION_H_
