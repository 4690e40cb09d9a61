// A cache as one process uses it: the folder, the downloads in progress, and what was verified.
#ifndef PENSTOCK_CLIENT_CACHE_NODE_CACHE_H_
#define PENSTOCK_CLIENT_CACHE_NODE_CACHE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/cache/cache_folder.h"
#include "client/cache/work_pool.h"
#include "penstock/base/mutex.h"
#include "penstock/memory.h"

namespace penstock::cache {

// The bytes of a downloaded block, within the memory budget.
struct BlockBytes {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
  MemoryBudget::Share share;

  // Null: the budget has no room.
  static std::shared_ptr<BlockBytes> Take(std::size_t size);
  ByteView view() const { return {bytes.get(), size}; }
};

// The download of one block by this process. Other reads of the process wait for it.
struct BlockFetch {
  enum class State { kLoading, kReady, kFailed };

  explicit BlockFetch(BlockId block) : id(std::move(block)) {}

  const BlockId id;
  std::atomic<State> state{State::kLoading};
  // Written before the state changes, and constant after.
  std::shared_ptr<const BlockBytes> data;  // kReady; shared with the task that stores the block
  ObjectMetadata metadata;                 // kReady
  std::optional<Error> error;              // kFailed
};
using BlockFetchPtr =
    std::shared_ptr<BlockFetch>;  // Shared by the download and the reads that wait.

// Thread safety: any thread.
class NodeCache {
 public:
  // For tests: a cache of their own.
  explicit NodeCache(std::unique_ptr<CacheFolder> folder) : folder_(std::move(folder)) {}

  // Returns the cache of this process in config.directory, which must be set. It is never
  // destroyed. A later call with another `max_bytes` changes the limit. In a forked child it is a
  // new object. Null: the directory cannot be used now, which is logged. kInvalidArgument: it must
  // not be used.
  static Result<NodeCache*> PerProcess(const NodeCacheConfig& config);

  CacheFolder& folder() { return *folder_; }
  WorkPool& pool() { return WorkPool::PerProcess(); }

  // Null: this process does not download the block.
  BlockFetchPtr Find(const BlockId& id) const;
  // Begins fetches of at most `count` blocks from `first` on. Ends at a block that the cache has,
  // or that this or another process fetches. The caller downloads the blocks.
  std::vector<BlockFetchPtr> BeginFetches(const std::string& hash, std::uint64_t first,
                                          std::uint64_t count);
  // Ends a fetch. Complete also stores it; `head` needs no data members.
  void Complete(const BlockFetchPtr& fetch, std::shared_ptr<const BlockBytes> data, BlockHead head);
  void Fail(const BlockFetchPtr& fetch, Error error);

  // Removes the blocks of a version whose bytes differ from the checksum of the object.
  void Drop(const ObjectVersion& version, std::uint64_t object_bytes, const std::string& why);

  // Blocks that this process downloads or stores now.
  std::size_t in_flight() const;

  // Whether this process has compared the checksum of this file.
  bool IsVerified(const BlockId& id, const OpenBlock& block) const;
  void SetVerified(const BlockId& id, const OpenBlock& block);

 private:
  void Release(const BlockFetch& fetch);

  const std::unique_ptr<CacheFolder> folder_;
  std::atomic<std::uint64_t> storing_bytes_{0};
  mutable Mutex mutex_;
  std::map<BlockId, BlockFetchPtr> fetches_ PENSTOCK_GUARDED_BY(mutex_);
  // Inode and time of the verified file of a block, by the hash of its id.
  std::unordered_map<std::size_t, std::pair<std::uint64_t, std::int64_t>> verified_
      PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_NODE_CACHE_H_
