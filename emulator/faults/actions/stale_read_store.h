// A store whose reads do not see hidden writes.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_STALE_READ_STORE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_STALE_READ_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "emulator/faults/registry/hidden_writes.h"
#include "emulator/s3/core/passing_store.h"

namespace penstock::emulator::faults {

// Serves one read at time `now`. Reads by version id ignore hidden writes.
//
// Thread safety: that of the wrapped store.
class StaleReadStore final : public s3::PassingStore {
 public:
  // `hidden` must outlive this object.
  StaleReadStore(std::shared_ptr<store::Store> inner, const HiddenWrites& hidden, WallTime now)
      : s3::PassingStore(std::move(inner)), hidden_(hidden), now_(now) {}

  using s3::PassingStore::List;
  Result<store::ObjectPtr> FindObject(const BucketName& bucket, const ObjectKey& key,
                                      const std::optional<VersionId>& version) override;
  // A page may have fewer entries than requested, as in S3.
  Result<store::ListPage> List(const store::ListObjects& query) override;

 private:
  class PageEditor;
  // Whether the common prefix has keys besides the hidden ones below it.
  Result<bool> HasVisibleKeys(const store::ListObjects& query, const std::string& common_prefix);

  const HiddenWrites& hidden_;
  const WallTime now_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_STALE_READ_STORE_H_
