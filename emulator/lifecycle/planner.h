// Decides which actions are due in one bucket, version by version. Changes nothing.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_PLANNER_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_PLANNER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "emulator/lifecycle/action.h"
#include "emulator/s3/config/lifecycle_rules.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::lifecycle {

enum class LockedVersions {
  kIncluded,  // The store refuses their removal.
  kLeftOut,   // For previews.
};

// Takes the versions in the order of ListVersions: keys ascending, newest version first. Uses
// memory for one key, whatever its number of versions.
class Planner {
 public:
  Planner(store::Store& store, WallTime now, LockedVersions locked)
      : store_(store), now_(now), locked_(locked) {}

  // The bucket's record for the versions and uploads that follow.
  void SetBucket(store::BucketPtr bucket);

  // Appends the due actions of one version to `actions`.
  Result<void> AddVersion(const store::ListEntry& entry, std::vector<Action>& actions);
  // Call after the last version.
  void EndVersions(std::vector<Action>& actions) { EndKey(actions); }
  void AddUpload(const store::UploadRecord& upload, std::vector<Action>& actions);

  // The first date after `now` at which an action may be due; nullopt: none is known.
  std::optional<WallTime> next() const { return next_; }

 private:
  // The key whose versions are added.
  struct Key {
    std::string name;
    std::optional<WallTime> newer;  // When the version above was created.
    std::size_t noncurrent = 0;
    bool has_survivors = false;    // Versions other than the delete marker.
    std::optional<Action> marker;  // The expiration of its current delete marker.
    bool replaces_null = false;    // A planned delete marker replaces its null version.
  };

  void EndKey(std::vector<Action>& actions);
  // Whether AddVersion needs more of the version than its list entry.
  bool NeedsObject(const store::ListEntry& entry) const;
  Result<void> AddLoaded(const store::ListEntry& entry, const store::ObjectRecord* object,
                         std::vector<Action>& actions);
  // The current version gets a delete marker, or is deleted.
  void SetMarker(bool keeps_version);
  bool IsLocked(const store::ListEntry& entry) const;
  void AddRestore(const Action& version, const store::ObjectRecord& object,
                  std::vector<Action>& actions);
  void KeepNext(std::optional<WallTime> date);

  store::Store& store_;
  const WallTime now_;
  const LockedVersions locked_;
  store::BucketPtr bucket_;
  const s3::LifecycleRules* rules_ = nullptr;  // Of bucket_; null: none.
  bool has_restores_ = false;
  Key key_;
  std::optional<WallTime> next_;
};

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_PLANNER_H_
