// Verbs that only directory buckets have (S3 Express One Zone). A general purpose bucket is refused
// with kUnsupported.
#ifndef PENSTOCK_DIRECTORY_BUCKET_H_
#define PENSTOCK_DIRECTORY_BUCKET_H_

#include <optional>
#include <string>
#include <vector>

#include "penstock/object_store.h"

namespace penstock {

// Conditions on one of the two objects of a rename; what is unset is not asked. "*" is an ETag that
// any object has.
struct RenameConditions {
  std::optional<ETag> if_match;
  std::optional<ETag> if_none_match;
  std::optional<WallTime> if_modified_since;
  std::optional<WallTime> if_unmodified_since;
};

// Gives an object another key of the same bucket, at once and without a copy; an object that has
// that key is replaced. Sent again after an answer was lost it still happens once: the token tells
// S3 that it is the same rename.
struct RenameObjectRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey source;
  ObjectKey destination;  // must not end in "/"
  RenameConditions of_source;
  RenameConditions of_destination;
  // 1 to 64 printable ASCII characters; empty: a new one, kept over all attempts
  std::string client_token;
  CallOptions options;
};

// The directory buckets of the client's region.
struct ListDirectoryBucketsResponse {
  std::vector<BucketSummary> buckets;
  std::string next_token;  // empty: the last page
};
struct ListDirectoryBucketsRequest {
  using Response = ListDirectoryBucketsResponse;
  std::string continuation_token;
  int max_buckets = 1000;  // 0 to 1000
  CallOptions options;
};

}  // namespace penstock

#endif  // PENSTOCK_DIRECTORY_BUCKET_H_
