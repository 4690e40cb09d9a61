// The node cache: blocks of objects on a local disk, shared by all processes of a node.
//
// ClientConfig::cache turns it on for a Client. The functions here inspect a cache and remove
// blocks from it; docs/how-to/node-cache.md describes what a cache promises.
#ifndef PENSTOCK_NODE_CACHE_H_
#define PENSTOCK_NODE_CACHE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/export.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// Where a Client caches the bytes of objects.
struct NodeCacheConfig {
  // A directory of a local file system, absolute, which is created if it is missing. Unset:
  // PENSTOCK_CACHE_DIR. Empty: no cache.
  std::optional<std::string> directory = {};
  // The most bytes on disk, at least kMinCacheBytes. Unset: PENSTOCK_CACHE_SIZE, else what the
  // file system has free when the process opens the cache, less 5 % of its size, and the bytes
  // that the cache already has.
  std::optional<std::uint64_t> max_bytes = {};
};

inline constexpr std::uint64_t kMinCacheBytes = 16ull << 20;
inline constexpr std::uint64_t kCacheBlockBytes = 1ull << 20;

// Parses a size: bytes, or a number with the unit kB, MB, GB, TB (powers of 1,000) or KiB, MiB,
// GiB, TiB. Returns kInvalidArgument that names `setting` and the text for anything else, and for
// sizes below kMinCacheBytes.
Result<std::uint64_t> ParseCacheSize(const std::string& setting, const std::string& text);

// What all processes have done with a cache since it was created. The counts of a process that was
// killed may miss its last reads.
struct CacheStats {
  std::uint64_t stored_bytes = 0;     // Approximate size on disk.
  std::uint64_t hits = 0;             // Blocks read from the cache.
  std::uint64_t hit_bytes = 0;        // Bytes of objects that reads took from the cache.
  std::uint64_t misses = 0;           // Blocks downloaded for the cache.
  std::uint64_t miss_bytes = 0;       // Bytes of these.
  std::uint64_t stored = 0;           // Blocks written.
  std::uint64_t refused = 0;          // Blocks not written: no room for them.
  std::uint64_t evicted = 0;          // Blocks removed to make room.
  std::uint64_t damaged = 0;          // Blocks whose checksum did not match. They were removed.
  std::uint64_t errors = 0;           // Failed operations on the cache's files.
  std::uint64_t requested_bytes = 0;  // hit_bytes and miss_bytes.
};

// One block of a cache.
struct CacheEntry {
  std::string endpoint;
  std::string bucket;
  std::string key;
  std::string etag;
  std::uint64_t offset = 0;       // Of the block's first byte in the object.
  std::uint64_t size = 0;         // Bytes of the object in this block.
  std::uint64_t object_size = 0;  // Of the whole object.
  WallTime stored{};
  WallTime used{};
};

struct CacheCheck {
  std::uint64_t blocks = 0;         // Undamaged ones.
  std::uint64_t bytes = 0;          // On disk.
  std::uint64_t damaged = 0;        // Removed.
  std::uint64_t damaged_bytes = 0;  // Of these, on disk.
};

struct CachePrune {
  std::uint64_t removed = 0;        // Blocks.
  std::uint64_t removed_bytes = 0;  // On disk.
  std::uint64_t kept_bytes = 0;
};

// All functions return kNotFound if `directory` has no cache, and an error that names the path if
// it cannot be used. They may run while processes use the cache.

// Calls `entry` for every block in no particular order, until it returns false. Skips blocks that
// cannot be read.
Result<void> ListCache(const std::string& directory,
                       const std::function<bool(const CacheEntry&)>& entry);
Result<CacheStats> ReadCacheStats(const std::string& directory);
// Reads every block and removes damaged ones. If one cannot be read or removed, checks the others
// and returns an error that names its path.
Result<CacheCheck> VerifyCache(const std::string& directory);
// Removes the least recently used blocks until at most `keep_bytes` are left, and files that killed
// processes left behind.
Result<CachePrune> PruneCache(const std::string& directory, std::uint64_t keep_bytes);

}  // namespace penstock

#endif  // PENSTOCK_NODE_CACHE_H_
