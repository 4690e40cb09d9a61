// Caches the latest versions of frequently read objects, so that reads of them do not use the
// database.
//
// Coherence: at any moment the cache returns for a key what a database snapshot taken at that
// moment contains. The writer calls Hold before its commit and Set or Erase after it. In between,
// the key is not cached and readers use the database. A reader takes a Ticket before it starts its
// snapshot and passes it to Offer. Offer inserts nothing if a write was published in between or the
// key is held.
#ifndef PENSTOCK_EMULATOR_STORE_OBJECT_CACHE_H_
#define PENSTOCK_EMULATOR_STORE_OBJECT_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/store/records/records.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

struct CacheLimits {
  std::uint64_t bytes = 64 << 20;    // of records and inline bodies
  std::uint64_t descriptors = 1024;  // open files of cached contents
};

// Bounded and sharded, with LRU eviction. If memory runs out, an object is not
// cached and the previous entry of its key is removed, so entries are never stale. Thread safety:
// any thread.
class ObjectCache final : public ReclaimableMemory {
 public:
  // `memory_limit`: what entries are charged to, for a store in memory; null: nothing. Their bodies
  // are charged by the blobs, which live as long as the records.
  explicit ObjectCache(CacheLimits limits, std::shared_ptr<MemoryLimit> memory_limit = nullptr);

  using Ticket = std::uint64_t;
  Ticket TakeTicket(std::string_view bucket, std::string_view key);

  // Null: not cached.
  ObjectPtr Find(std::string_view bucket, std::string_view key);
  // For readers. Ignored if the shard was written to after `ticket` or the key is held.
  void Offer(std::string_view bucket, const ObjectPtr& object, Ticket ticket) noexcept;
  // For the writer: a commit that may change the key is about to start. If it throws
  // std::bad_alloc, the key is not held.
  void Hold(std::string_view bucket, std::string_view key);
  // For the writer: `object` is now the latest version of its key (Set), or the key has none or
  // must be looked up again (Erase). Ends one Hold of the key. While another Hold remains, the
  // object is not cached, because the same commit changes the key again. Both may be called without
  // a Hold if the readers of the database wait until the writer has finished.
  void Set(std::string_view bucket, const ObjectPtr& object) noexcept;
  void Erase(std::string_view bucket, std::string_view key) noexcept;
  // Removes all entries.
  void Reclaim() override;

 private:
  struct Name {
    std::string_view bucket;
    std::string_view key;
    std::size_t hash;
    bool operator==(const Name& other) const { return key == other.key && bucket == other.bucket; }
  };
  struct NameHash {
    std::size_t operator()(const Name& name) const { return name.hash; }
  };
  struct Entry {
    std::string bucket;
    ObjectPtr object;
    std::uint64_t bytes = 0;
    std::uint64_t descriptors = 0;
  };
  using Entries = std::list<Entry>;  // most recently used first
  struct Shard {
    Mutex mutex;
    Ticket writes PENSTOCK_GUARDED_BY(mutex) = 0;
    // Hashes of held keys, one per Hold. There are few.
    std::vector<std::size_t> held PENSTOCK_GUARDED_BY(mutex);
    std::uint64_t bytes PENSTOCK_GUARDED_BY(mutex) = 0;
    MemoryCharge charge PENSTOCK_GUARDED_BY(mutex);  // of `bytes`
    std::uint64_t descriptors PENSTOCK_GUARDED_BY(mutex) = 0;
    Entries entries PENSTOCK_GUARDED_BY(mutex);
    // Keys are views into `entries`.
    std::unordered_map<Name, Entries::iterator, NameHash> index PENSTOCK_GUARDED_BY(mutex);
  };
  static constexpr std::size_t kShards = 64;

  static Name MakeName(std::string_view bucket, std::string_view key);
  Shard& ShardOf(const Name& name) { return shards_[(name.hash >> 48) % kShards]; }
  static bool IsHeld(const Shard& shard, const Name& name) noexcept PENSTOCK_REQUIRES(shard.mutex);
  static void EndHold(Shard& shard, const Name& name) noexcept PENSTOCK_REQUIRES(shard.mutex);
  // Both move the removed entries to `dropped`, to be destroyed outside the lock.
  static void Remove(Shard& shard, const Name& name, Entries& dropped) noexcept
      PENSTOCK_REQUIRES(shard.mutex);
  void Insert(Shard& shard, const Name& name, Entries& fresh, Entries& dropped) noexcept
      PENSTOCK_REQUIRES(shard.mutex);
  // Returns a list of one entry; empty if memory runs out.
  static Entries MakeEntry(std::string_view bucket, const ObjectPtr& object) noexcept;

  const CacheLimits per_shard_;
  const std::shared_ptr<MemoryLimit> memory_limit_;  // outlives the charges
  std::array<Shard, kShards> shards_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_OBJECT_CACHE_H_
