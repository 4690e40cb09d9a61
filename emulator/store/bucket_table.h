// All buckets, in memory: looked up by every request, changed rarely.
#ifndef PENSTOCK_EMULATOR_STORE_BUCKET_TABLE_H_
#define PENSTOCK_EMULATOR_STORE_BUCKET_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/sqlite.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

struct Bucket {
  std::int64_t id = 0;  // never used twice, so rows of a deleted bucket are nobody's
  BucketPtr record;     // never null
};

// kNotFound, code NoSuchBucket.
Error NoSuchBucket(const BucketName& name);

// A mirror of the table `buckets`, changed after each commit that changed it. Thread safety: any thread.
class BucketTable {
 public:
  // Reads the table of a database just opened.
  Result<void> Load(Connection& connection);
  Result<Bucket> Find(const BucketName& name) const;
  std::vector<BucketPtr> All() const;  // by name
  std::size_t CountOf(std::string_view owner_id) const;
  void Set(Bucket bucket);
  void Erase(const BucketName& name);

 private:
  mutable Mutex mutex_;
  std::map<std::string, Bucket, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
};

// Inserts or replaces the bucket's row.
Result<void> WriteBucket(Connection& connection, const Bucket& bucket);
Result<void> RemoveBucket(Connection& connection, std::int64_t id);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BUCKET_TABLE_H_
