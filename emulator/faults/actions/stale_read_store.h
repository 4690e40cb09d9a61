// A store whose reads do not see hidden writes.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_STALE_READ_STORE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_STALE_READ_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "emulator/faults/actions/hidden_writes.h"
#include "emulator/faults/actions/passing_store.h"

namespace penstock::emulator::faults {

// For one read, at `now`. A version that is asked for by its id is seen whatever is hidden.
//
// Thread safety: the inner one's.
class StaleReadStore final : public PassingStore {
 public:
  // `hidden` outlives this.
  StaleReadStore(std::shared_ptr<store::Store> inner, const HiddenWrites& hidden, WallTime now)
      : PassingStore(std::move(inner)), hidden_(hidden), now_(now) {}

  using PassingStore::List;
  Result<store::ObjectPtr> FindObject(const BucketName& bucket, const ObjectKey& key,
                                      const std::optional<VersionId>& version) override;
  // A page may have fewer entries than it was asked for, as S3's may.
  Result<store::ListPage> List(const store::ListObjects& query) override;

 private:
  class Veil;
  // Whether a common prefix would be there without the keys that are hidden below it.
  Result<bool> StaysWithout(const store::ListObjects& query, const std::string& common_prefix);

  const HiddenWrites& hidden_;
  const WallTime now_;
};

// Whether an operation sees hidden writes as not done yet: reads of objects and listings of general
// purpose buckets' keys.
bool LooksThroughVeil(const s3::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_STALE_READ_STORE_H_
