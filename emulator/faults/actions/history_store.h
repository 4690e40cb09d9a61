// Records in EarlierVersions the objects that a multi-object delete removes.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_HISTORY_STORE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_HISTORY_STORE_H_

#include <memory>
#include <utility>
#include <vector>

#include "emulator/faults/registry/earlier_versions.h"
#include "emulator/s3/core/passing_store.h"

namespace penstock::emulator::faults {

// Thread safety: that of the wrapped store.
class HistoryStore final : public s3::PassingStore {
 public:
  // `versions` must outlive this object.
  HistoryStore(std::shared_ptr<store::Store> inner, EarlierVersions& versions)
      : s3::PassingStore(std::move(inner)), versions_(versions) {}

  using s3::PassingStore::Delete;
  std::vector<Result<store::DeleteOutcome>> Delete(
      std::vector<store::DeleteObject> requests) override {
    std::vector<std::pair<std::string, store::ObjectPtr>> before;
    before.reserve(requests.size());
    for (const store::DeleteObject& request : requests) {
      const auto found = inner().FindObject(request.bucket, request.key, std::nullopt);
      const bool current = !request.version_id && found.ok() && !(*found)->is_delete_marker;
      before.emplace_back(request.bucket.value, current ? *found : nullptr);
    }
    auto outcomes = inner().Delete(std::move(requests));
    for (std::size_t i = 0; i < outcomes.size() && i < before.size(); ++i) {
      if (outcomes[i].ok() && before[i].second)
        versions_.Record(before[i].first, std::move(before[i].second));
    }
    return outcomes;
  }

 private:
  EarlierVersions& versions_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_HISTORY_STORE_H_
