// Downloads adjacent blocks of an object with one GetObject.
#ifndef PENSTOCK_CLIENT_CACHE_BLOCK_DOWNLOAD_H_
#define PENSTOCK_CLIENT_CACHE_BLOCK_DOWNLOAD_H_

#include <memory>
#include <vector>

#include "client/cache/cached_read.h"
#include "client/cache/node_cache.h"

namespace penstock::cache {

struct BlockDownload {
  ObjectVersion version;
  bool complete_metadata = false;  // `metadata` is of a response that covers the whole object.
  std::optional<ObjectMetadata> metadata;  // If known.
  std::vector<BlockFetchPtr> fetches;      // Begun, adjacent, not empty.
  CallOptions options;
};

// Ends every fetch: with its bytes, or with the error. A block beyond the end of the object fails.
// kResourceExhausted: the memory budget has no room.
void StartBlockDownload(NodeCache& cache, std::shared_ptr<CacheBackend> backend,
                        BlockDownload download);

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_BLOCK_DOWNLOAD_H_
