// What keys had before what they have now: for reads that are to bring bytes of the version before.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_EARLIER_VERSIONS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_EARLIER_VERSIONS_H_

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Of keys that were overwritten or deleted, also in buckets that keep no versions. Bytes stay as
// long as they are named here.
//
// Thread safety: safe from any thread.
class EarlierVersions {
 public:
  static constexpr std::size_t kMost = 1'000;

  // Beyond kMost the key that was noted first is forgotten.
  void Note(const std::string& bucket, store::ObjectPtr object);
  store::ObjectPtr Find(const std::string& bucket,
                        const std::string& key) const;  // null: nothing is noted
  void Clear();

 private:
  using Name = std::pair<std::string, std::string>;  // bucket and key

  mutable Mutex mutex_;
  std::map<Name, store::ObjectPtr> objects_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<Name> order_ PENSTOCK_GUARDED_BY(mutex_);
};

// The object that the exchange is about, as it is now; null: there is none.
store::ObjectPtr CurrentObject(const s3::Exchange& exchange);

// The version before the one that a read is about: what was noted of the key, or else what a
// versioned bucket has; null: none.
store::ObjectPtr VersionBefore(const s3::Exchange& exchange, const EarlierVersions& noted);

// Whether an operation may put another object in a key's place.
bool Overwrites(const s3::Exchange& exchange);

// Whether it deletes the object that a key has now.
bool DeletesCurrent(const s3::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_EARLIER_VERSIONS_H_
