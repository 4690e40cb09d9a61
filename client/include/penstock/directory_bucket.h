// Operations that only directory buckets support (S3 Express One Zone). For a general purpose
// bucket they return kUnsupported.
#ifndef PENSTOCK_DIRECTORY_BUCKET_H_
#define PENSTOCK_DIRECTORY_BUCKET_H_

#include <optional>
#include <string>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// Conditions on one of the two objects of a rename. Unset conditions are not checked. The ETag "*"
// matches any object.
struct RenameConditions {
  std::optional<ETag> if_match = {};
  std::optional<ETag> if_none_match = {};
  std::optional<WallTime> if_modified_since = {};
  std::optional<WallTime> if_unmodified_since = {};
};

// Renames an object within its bucket, atomically and without a copy. An existing object at the
// destination is replaced. A retry after a lost response is safe: the client token identifies the
// rename to S3.
struct RenameObjectRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey source = {};
  ObjectKey destination = {};  // Must not end in "/".
  RenameConditions of_source = {};
  RenameConditions of_destination = {};
  // 1 to 64 printable ASCII characters. Empty: the client generates one for all attempts of the
  // call.
  std::string client_token = {};
  CallOptions options = {};
};

// The directory buckets in the client's region.
struct ListDirectoryBucketsResponse {
  std::vector<BucketSummary> buckets;
  std::string next_token;  // Empty: the last page.
};
struct ListDirectoryBucketsRequest {
  using Response = ListDirectoryBucketsResponse;
  std::string continuation_token = {};
  int max_buckets = 1000;  // 0 to 1000.
  CallOptions options = {};
};

}  // namespace penstock

#endif  // PENSTOCK_DIRECTORY_BUCKET_H_
