// One GetObject that is served from the node cache as far as possible (docs/decisions/0107).
#ifndef PENSTOCK_CLIENT_CACHE_CACHED_READ_H_
#define PENSTOCK_CLIENT_CACHE_CACHED_READ_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/cache/node_cache.h"
#include "penstock/object_store.h"

namespace penstock::cache {

// How a read reaches S3, and whose counters it uses. Shared by the reads of a Client.
struct CacheBackend {
  std::function<void(GetObjectRequest, Callback<ObjectMetadata>)> get;
  std::function<void(HeadObjectRequest, Callback<ObjectMetadata>)> head;
  std::string endpoint;  // Part of every identity.
  bool verify = true;    // Whole objects are compared with their checksums.
  // How long a read waits for the download of another process. Then it reads from S3 itself.
  std::chrono::milliseconds lock_wait{30'000};

  std::atomic<std::uint64_t> hits{0};  // As in CacheCounts.
  std::atomic<std::uint64_t> hit_bytes{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> miss_bytes{0};
};

// Whether the cache can serve such a request. Not those for versions, parts or encrypted with the
// customer's key, with conditions other than If-Match, or with options that change the response or
// name the owner of the bucket.
bool IsCacheable(const GetObjectRequest& request);

// Requires IsCacheable. Everything that Start of ObjectStore promises about `request` and `done`
// holds.
//
// The ETag decides. It is if_match, else listed_etag if the cache has all bytes of that version or
// it is still current, else that of a HEAD request. A read of a version that the cache has sends no
// further request.
void StartCachedRead(NodeCache& cache, std::shared_ptr<CacheBackend> backend,
                     GetObjectRequest request, Callback<ObjectMetadata> done);

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_CACHED_READ_H_
