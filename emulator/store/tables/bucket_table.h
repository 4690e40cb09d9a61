// Keeps all buckets in memory, because every request looks up a bucket and few change one.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_BUCKET_TABLE_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_BUCKET_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/records/records.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

struct Bucket {
  std::int64_t id = 0;  // never reused, so no bucket inherits rows of a deleted one
  BucketPtr record;     // never null
};

// kNotFound with code NoSuchBucket.
Error NoSuchBucket(const BucketName& name);

// The memory that the bucket's record takes in a BucketTable.
std::uint64_t MemoryOf(const BucketRecord& record);

// A copy of the table `buckets`, updated after each commit that changed it. Readers take buckets
// only from this table, so a change of a bucket's row needs no other synchronization. A commit that
// also changes other rows of the bucket must hold the bucket: see Hold. Thread safety: any thread.
class BucketTable {
 public:
  // Charges the records to `limit`. Null: charges nothing.
  explicit BucketTable(MemoryLimit* limit = nullptr) : charge_(limit) {}

  // Reads the buckets of a database that was just opened.
  Result<void> Load(Connection& connection);
  // Find and All wait while a bucket that they would return is held.
  Result<Bucket> Find(const BucketName& name) const;
  std::vector<BucketPtr> All() const;  // ordered by name
  std::size_t CountOf(std::string_view owner_id) const;
  void Set(Bucket bucket);
  void Erase(const BucketName& name);
  // For the writer, around its commit: readers of the bucket wait until Release, so that they see
  // the changes of the bucket's row and of its other rows at once. One bucket at a time. If it
  // throws std::bad_alloc, no bucket is held.
  void Hold(const BucketName& name);
  void Release();

 private:
  mutable Mutex mutex_;
  mutable CondVar released_;
  std::string held_ PENSTOCK_GUARDED_BY(mutex_);  // empty: none
  std::map<std::string, Bucket, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
  MemoryCharge charge_ PENSTOCK_GUARDED_BY(mutex_);
};

// Inserts or replaces the bucket's row.
Result<void> WriteBucket(Connection& connection, const Bucket& bucket);
Result<void> RemoveBucket(Connection& connection, std::int64_t id);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_BUCKET_TABLE_H_
