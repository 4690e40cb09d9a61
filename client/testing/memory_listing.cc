// Lists pages with prefix, delimiter and continuation token.
#include <algorithm>
#include <string_view>
#include <utility>

#include "client/testing/memory_state.h"

namespace penstock::testing {
namespace {

// The token is a prefix plus the last entry of the page, so that a made-up token is rejected.
constexpr std::string_view kTokenMark = "after:";

}  // namespace

Result<ListObjectsResponse> ListBucket(const StoredBucket& bucket,
                                       const ListObjectsRequest& request) {
  if (request.max_keys < 0) {
    return S3Error(ErrorKind::kInvalidArgument, 400, "InvalidArgument",
                   "max_keys must be 0 or more, not " + std::to_string(request.max_keys));
  }
  if (request.max_keys == 0) return ListObjectsResponse{};
  const int most = std::min(request.max_keys, 1000);
  std::string after = request.start_after;
  if (!request.continuation_token.empty()) {
    if (!request.continuation_token.starts_with(kTokenMark)) {
      return S3Error(ErrorKind::kInvalidArgument, 400, "InvalidArgument",
                     "The continuation token provided is incorrect");
    }
    after = request.continuation_token.substr(kTokenMark.size());
  }
  ListObjectsResponse response;
  std::string last;
  int count = 0;
  auto entry = after < request.prefix ? bucket.objects.lower_bound(request.prefix)
                                      : bucket.objects.upper_bound(after);
  while (entry != bucket.objects.end() && entry->first.starts_with(request.prefix)) {
    const std::string& key = entry->first;
    const std::size_t cut = request.delimiter.empty()
                                ? std::string::npos
                                : key.find(request.delimiter, request.prefix.size());
    const std::string group =
        cut == std::string::npos ? "" : key.substr(0, cut + request.delimiter.size());
    // A resume point inside a group skips the whole group.
    const bool skipped = !group.empty() && (after.starts_with(group) || last == group);
    if (!skipped) {
      if (count == most) {
        response.next_token = std::string(kTokenMark) + last;
        return response;
      }
      ++count;
      last = group.empty() ? key : group;
      if (group.empty()) {
        const ObjectMetadata& metadata = entry->second.metadata;
        response.objects.push_back({ObjectKey(key), metadata.size, metadata.etag,
                                    metadata.last_modified, metadata.storage_class});
      } else {
        response.common_prefixes.push_back(group);
      }
    }
    ++entry;
  }
  return response;
}

// Same traversal: each object is the only version of its key. A page resumes after all versions of
// the marker's key.
Result<ListObjectVersionsResponse> ListBucket(const StoredBucket& bucket,
                                              const ListObjectVersionsRequest& request) {
  if (!request.version_id_marker.empty() && request.key_marker.empty()) {
    return S3Error(ErrorKind::kInvalidArgument, 400, "InvalidArgument",
                   "A version-id marker cannot be specified without a key marker.");
  }
  ListObjectsRequest objects{.bucket = request.bucket,
                             .prefix = request.prefix,
                             .delimiter = request.delimiter,
                             .start_after = request.key_marker,
                             .max_keys = request.max_keys};
  PENSTOCK_ASSIGN(ListObjectsResponse page, ListBucket(bucket, objects));
  ListObjectVersionsResponse response;
  for (ObjectSummary& object : page.objects) {
    response.versions.push_back({std::move(object.key), VersionId(std::string(kNullVersion)), true,
                                 false, object.size, std::move(object.etag), object.last_modified,
                                 std::move(object.storage_class)});
  }
  response.common_prefixes = std::move(page.common_prefixes);
  if (!page.next_token.empty()) {
    response.next_key_marker = page.next_token.substr(kTokenMark.size());
    const bool is_object = !response.versions.empty() &&
                           response.versions.back().key.value == response.next_key_marker;
    if (is_object) response.next_version_id_marker = VersionId(std::string(kNullVersion));
  }
  return response;
}

}  // namespace penstock::testing
