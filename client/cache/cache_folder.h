// The directory of a cache: its files, the state that processes share, and locks between processes.
//
//   DIRECTORY/v2/state      counters, and the file whose bytes are locked
//                ab/cd...0  blocks (block_file.h), by hash
//                ab/.tmp-*  blocks being written
//
// Locks are POSIX record locks: the kernel releases them when a process ends, and a forked child
// does not inherit them. They only save work. The rename that publishes a block decides.
#ifndef PENSTOCK_CLIENT_CACHE_CACHE_FOLDER_H_
#define PENSTOCK_CLIENT_CACHE_CACHE_FOLDER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/io/descriptor.h"
#include "client/cache/block_file.h"
#include "client/cache/eviction.h"
#include "client/cache/state_file.h"
#include "penstock/base/mutex.h"
#include "penstock/node_cache.h"

namespace penstock::cache {

// An open block file whose footer was checked.
struct OpenBlock {
  Descriptor file;
  BlockHead head;
  // Distinguishes this file from others that had or will have its name.
  std::uint64_t inode = 0;
  std::int64_t changed = 0;
};

// Thread safety: any thread. Belongs to the process that opened it.
class CacheFolder {
 public:
  // Creates what is missing. The directory must belong to the user of this process and must not be
  // writable by others. `max_bytes` unset: see NodeCacheConfig.
  static Result<std::unique_ptr<CacheFolder>> Open(const std::string& directory,
                                                   std::optional<std::uint64_t> max_bytes);
  // Opens an existing cache to inspect it. kNotFound if there is none.
  static Result<std::unique_ptr<CacheFolder>> OpenExisting(const std::string& directory);

  const std::string& path() const { return path_; }
  std::uint64_t limit() const { return limit_; }
  void SetLimit(std::uint64_t bytes) { limit_ = bytes; }

  // kNotFound: the cache does not have the block. kDataLoss: the footer is damaged, or it is not a
  // regular file; it is removed and counted. Other errors are counted.
  Result<OpenBlock> OpenBlockFile(const BlockId& id);
  // As OpenBlockFile. Nullopt: an error; the block is as absent.
  std::optional<OpenBlock> OpenForRead(const BlockId& id);
  bool Has(const BlockId& id) const;
  // Reads the footer only, and changes nothing. Nullopt: there is none.
  std::optional<BlockHead> Peek(const BlockId& id) const;
  // Marks an open block as used.
  void MarkUsed(const OpenBlock& block);
  // Removes a file that turned out to be damaged, and counts it. Returns 0, or the errno of the
  // removal, which is counted as an error.
  int RemoveDamaged(const BlockId& id, const std::string& why);
  // Returns 0 or errno. An absent block is removed.
  int Remove(const BlockId& id);
  std::string PathOf(const BlockId& id) const { return path_ + "/" + id.Path(); }

  enum class Stored { kYes, kNoRoom, kFailed };
  // Publishes a block, after an eviction if necessary. Sets head.data_crc. kNoRoom also for a
  // footer of more than kMaxFooterBytes.
  Stored Store(const BlockId& id, BlockHead head, ByteView data);

  // Tries to lock a block for the download. False: another process has the lock. Without working
  // locks, true.
  bool TryLockBlock(const BlockId& id);
  void UnlockBlock(const BlockId& id);
  // Whether another process has the lock.
  bool IsBlockLocked(const BlockId& id) const;

  // Adds to the counters. They reach the file soon.
  void Add(const CacheStats& delta);
  // Writes pending counters to the file. Returns false if another process has its lock.
  bool Flush();
  CacheStats stats();

  // For inspection.
  struct Scanned {
    const std::string& file;    // Path relative to path().
    std::optional<BlockId> id;  // Nullopt: a temporary file.
    BlockAge age;
  };
  // Calls `visit` for every block and temporary file until it returns false.
  Result<void> Scan(const std::function<bool(const Scanned&)>& visit) const;
  // Evicts until at most `max_bytes` are left, under the eviction lock. Nullopt: another thread or
  // process evicts.
  Result<std::optional<CachePrune>> Shrink(std::uint64_t max_bytes, bool least_recently_used);
  void CountError(std::string_view what, int system_error);

 private:
  struct State;

  CacheFolder(std::string path, StateFile::Ptr state);
  static Result<std::unique_ptr<CacheFolder>> OpenAt(const std::string& directory, bool create);
  std::optional<State> ReadState() const;
  void ApplyPending(State& state) PENSTOCK_REQUIRES(mutex_);
  // Counts the bytes of a block that will be written, if they fit.
  bool TryReserve(std::uint64_t bytes);
  // Counts them also in the file, after an eviction if necessary.
  bool MakeRoom(std::uint64_t bytes);
  Result<CachePrune> Evict(std::uint64_t max_bytes, bool least_recently_used);
  bool Write(const BlockId& id, const std::string& footer, ByteView data);
  void SetStoredBytes(std::uint64_t scanned, std::uint64_t before);

  const std::string path_;
  const StateFile::Ptr state_file_;
  std::atomic<std::uint64_t> limit_{0};
  std::atomic<std::uint64_t> next_name_{0};
  std::atomic<std::int64_t> no_space_until_{0};  // Monotonic nanoseconds.
  std::atomic<std::int64_t> last_tick_{0};
  std::atomic<std::int64_t> next_flush_{0};  // Monotonic nanoseconds.
  mutable Mutex mutex_;
  CacheStats pending_ PENSTOCK_GUARDED_BY(mutex_);
  std::int64_t pending_stored_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t known_stored_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t writing_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // counted, but not yet renamed
};

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_CACHE_FOLDER_H_
