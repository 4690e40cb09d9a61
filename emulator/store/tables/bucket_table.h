// All buckets, in memory: looked up by every request, changed rarely.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_BUCKET_TABLE_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_BUCKET_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

struct Bucket {
  std::int64_t id = 0;  // never used twice, so rows of a deleted bucket are nobody's
  BucketPtr record;     // never null
};

// kNotFound, code NoSuchBucket.
Error NoSuchBucket(const BucketName& name);

// A mirror of the table `buckets`, changed after each commit that changed it. It is the only place
// that readers take buckets from, so a change of a bucket's row needs no more. A commit that also
// changes other rows of the bucket holds the bucket meanwhile: see Hold. Thread safety: any thread.
class BucketTable {
 public:
  // Reads the table of a database just opened.
  Result<void> Load(Connection& connection);
  // Find and All wait while a bucket they would return is held.
  Result<Bucket> Find(const BucketName& name) const;
  std::vector<BucketPtr> All() const;  // by name
  std::size_t CountOf(std::string_view owner_id) const;
  void Set(Bucket bucket);
  void Erase(const BucketName& name);
  // For the writer, around its commit: readers of the bucket wait until Release, so that they see
  // the bucket's row and its other rows change at once. One bucket at a time. Throws std::bad_alloc
  // and then holds nothing.
  void Hold(const BucketName& name);
  void Release();

 private:
  mutable Mutex mutex_;
  mutable CondVar released_;
  std::string held_ PENSTOCK_GUARDED_BY(mutex_);  // empty: none
  std::map<std::string, Bucket, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
};

// Inserts or replaces the bucket's row.
Result<void> WriteBucket(Connection& connection, const Bucket& bucket);
Result<void> RemoveBucket(Connection& connection, std::int64_t id);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_BUCKET_TABLE_H_
