// Remembers the previous objects of keys, for reads that return bytes of an earlier version.
#ifndef PENSTOCK_EMULATOR_FAULTS_REGISTRY_EARLIER_VERSIONS_H_
#define PENSTOCK_EMULATOR_FAULTS_REGISTRY_EARLIER_VERSIONS_H_

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Holds the objects that keys had before they were overwritten or deleted, also in unversioned
// buckets. Object data stays on disk as long as it is referenced here.
//
// Thread safety: safe from any thread.
class EarlierVersions {
 public:
  static constexpr std::size_t kMax = 1'000;

  // Above kMax keys, the key that was added first is dropped.
  void Record(const std::string& bucket, store::ObjectPtr object);
  store::ObjectPtr Find(const std::string& bucket,
                        const std::string& key) const;  // Null: none.
  void Clear();

 private:
  using Name = std::pair<std::string, std::string>;  // Bucket and key.

  mutable Mutex mutex_;
  std::map<Name, store::ObjectPtr> objects_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<Name> order_ PENSTOCK_GUARDED_BY(mutex_);
};

// Returns the current object of the exchange's key; null: none.
store::ObjectPtr CurrentObject(const s3::Exchange& exchange);

// Returns the version before the one that a read selects: the recorded one, or else the one in a
// versioned bucket; null: none.
store::ObjectPtr VersionBefore(const s3::Exchange& exchange, const EarlierVersions& versions);

// Whether the operation deletes the current object of a key.
bool DeletesCurrent(const s3::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_REGISTRY_EARLIER_VERSIONS_H_
