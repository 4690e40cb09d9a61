#include "emulator/lifecycle/apply.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/events/notifying_store.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/config/lifecycle_rules.h"
#include "emulator/s3/core/restore_state.h"

namespace penstock::emulator::lifecycle {
namespace {

// Requests wait at most for one of these commits.
constexpr std::size_t kActionsPerCommit = 256;

constexpr char kChangedCode[] = "LifecycleChanged";
constexpr char kLockedCode[] = "LifecycleLocked";

constinit DiagnosticEvent action_failed("lifecycle.action_failed");

Error WithCode(const char* code) {
  Error error = Error::Make(ErrorKind::kPreconditionFailed, code);
  error.code = code;
  return error;
}

bool IsPlanned(const Action& action, const store::ObjectRecord* version) {
  return version != nullptr && version->version_id == action.version_id &&
         version->last_modified == action.last_modified && version->etag == action.etag &&
         version->size == action.size;
}

template <class T>
Outcome OutcomeOf(const Result<T>& result) {
  if (result.ok()) return {};
  const Error& error = result.error();
  if (error.code == kLockedCode) return {OutcomeKind::kLocked, {}};
  const bool gone = error.kind == ErrorKind::kNotFound || error.code == "MethodNotAllowed";
  if (error.code == kChangedCode || gone) return {OutcomeKind::kChanged, {}};
  action_failed.Report(error);
  return {OutcomeKind::kFailed, error.message};
}

class Applier {
 public:
  Applier(store::Store& store, const store::BucketPtr& bucket, WallTime now,
          std::span<Action> actions, const s3::OwnerDirectory* owners)
      : store_(store),
        bucket_(*bucket),
        now_(now),
        actions_(actions),
        owners_(owners),
        outcomes_(actions.size()) {}

  std::vector<Outcome> Run() {
    ApplyTransitions();
    ApplyRemovals();
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      switch (actions_[i].kind) {
        case ActionKind::kExpireDeleteMarker: outcomes_[i] = RemoveMarker(actions_[i]); break;
        case ActionKind::kCompleteRestore:
        case ActionKind::kExpireRestore: outcomes_[i] = ChangeRestore(actions_[i]); break;
        case ActionKind::kAbortUpload:
          outcomes_[i] =
              OutcomeOf(store_.AbortUpload(bucket_.name, actions_[i].key, actions_[i].upload_id));
          break;
        default: break;
      }
    }
    return std::move(outcomes_);
  }

 private:
  // Calls `commit` with the places of at most kActionsPerCommit actions that `chosen` accepts.
  template <class Chosen, class Commit>
  void InCommits(Chosen chosen, Commit commit) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      if (chosen(actions_[i].kind)) places.push_back(i);
      if (!places.empty() && (places.size() == kActionsPerCommit || i + 1 == actions_.size())) {
        commit(places);
        places.clear();
      }
    }
    if (!places.empty()) commit(places);
  }

  void ApplyTransitions() {
    const auto is_transition = [](ActionKind kind) {
      return kind == ActionKind::kTransition || kind == ActionKind::kTransitionNoncurrent;
    };
    InCommits(is_transition, [this](const std::vector<std::size_t>& places) {
      const auto transition = events::LifecycleEvents(bucket_, "LifecycleTransition", owners_);
      std::vector<store::StorageClassChange> changes;
      changes.reserve(places.size());
      for (const std::size_t place : places) {
        const Action& action = actions_[place];
        changes.push_back({bucket_.name, action.key, action.version_id, action.to,
                           [&action](const store::ObjectRecord* version) -> Result<void> {
                             if (IsPlanned(action, version) &&
                                 version->storage_class == action.from)
                               return Ok();
                             return WithCode(kChangedCode);
                           },
                           transition});
      }
      const auto results = store_.ChangeStorageClass(std::move(changes));
      for (std::size_t i = 0; i < places.size(); ++i) outcomes_[places[i]] = OutcomeOf(results[i]);
    });
  }

  void ApplyRemovals() {
    const auto is_removal = [](ActionKind kind) {
      return kind == ActionKind::kExpireObject || kind == ActionKind::kCreateDeleteMarker ||
             kind == ActionKind::kExpireNoncurrentVersion;
    };
    InCommits(is_removal, [this](const std::vector<std::size_t>& places) {
      std::vector<store::DeleteObject> requests;
      requests.reserve(places.size());
      for (const std::size_t place : places) {
        const Action& action = actions_[place];
        requests.push_back(action.kind == ActionKind::kExpireNoncurrentVersion
                               ? RemovalOfNoncurrent(action)
                               : RemovalOfCurrent(action));
      }
      const auto results = store_.Delete(std::move(requests));
      for (std::size_t i = 0; i < places.size(); ++i) {
        outcomes_[places[i]] = OutcomeOf(results[i]);
        Action& action = actions_[places[i]];
        if (!results[i].ok() || action.kind == ActionKind::kExpireNoncurrentVersion) continue;
        action.kind = results[i]->created_marker ? ActionKind::kCreateDeleteMarker
                                                 : ActionKind::kExpireObject;
      }
    });
  }

  // Removes the current version if it is the planned one and a rule still expires it: its tags may
  // have changed.
  store::DeleteObject RemovalOfCurrent(const Action& action) const {
    const auto check = [this, &action](const store::ObjectRecord* current) -> Result<void> {
      const s3::LifecycleRules* rules = s3::LifecycleRules::Of(bucket_);
      if (rules == nullptr || !IsPlanned(action, current) || current->is_delete_marker)
        return WithCode(kChangedCode);
      const auto expiration = rules->ExpirationOf(*current);
      return expiration && expiration->date <= now_ ? Ok() : Result<void>(WithCode(kChangedCode));
    };
    return {bucket_.name, action.key, std::nullopt, check, {}, ExpirationEvents()};
  }

  store::DeleteObject RemovalOfNoncurrent(const Action& action) const {
    const auto is_noncurrent = [&action](const store::ObjectRecord* current) -> Result<void> {
      if (current != nullptr && current->version_id == action.version_id)
        return WithCode(kChangedCode);
      return Ok();
    };
    const auto is_free = [this, &action](const store::ObjectRecord* version) -> Result<void> {
      if (!IsPlanned(action, version)) return WithCode(kChangedCode);
      const auto lock = s3::StoredObjectLock(version->attributes);
      return s3::CheckUnlocked(lock, now_, /*bypass=*/false).ok()
                 ? Ok()
                 : Result<void>(WithCode(kLockedCode));
    };
    return {bucket_.name,  action.key, action.version_id,
            is_noncurrent, is_free,    ExpirationEvents()};
  }

  // A version below the marker may remain, for example because it is locked. Only newer versions
  // can be added to a key, and the transaction detects them.
  Outcome RemoveMarker(const Action& action) {
    store::ListVersions query;
    query.bucket = bucket_.name;
    query.prefix = action.key.value;
    query.max_keys = 2;
    const auto page = store_.List(query);
    if (!page.ok()) return OutcomeOf(page);
    const auto of_key = [&](const store::ListEntry& entry) {
      return entry.key == action.key.value;
    };
    if (std::count_if(page->entries.begin(), page->entries.end(), of_key) != 1)
      return {OutcomeKind::kChanged, {}};
    const auto is_latest = [&action](const store::ObjectRecord* current) -> Result<void> {
      if (IsPlanned(action, current) && current->is_delete_marker) return Ok();
      return WithCode(kChangedCode);
    };
    return OutcomeOf(store_.Delete(store::DeleteObject{
        bucket_.name, action.key, action.version_id, is_latest, {}, ExpirationEvents()}));
  }

  store::EventMaker ExpirationEvents() const {
    return events::LifecycleEvents(bucket_, "LifecycleExpiration:", owners_);
  }

  Outcome ChangeRestore(const Action& action) {
    const bool completes = action.kind == ActionKind::kCompleteRestore;
    return OutcomeOf(store_.ChangeAttributes(
        bucket_.name, action.key, action.version_id,
        [&](const store::ObjectRecord& version, store::Attributes& attributes) -> Result<void> {
          auto restore = s3::StoredRestore(attributes);
          const bool due =
              IsPlanned(action, &version) && restore &&
              (completes ? restore->ready <= now_ && !restore->completed : restore->expiry <= now_);
          if (!due) return WithCode(kChangedCode);
          restore->completed = true;
          if (!completes) restore.reset();
          s3::ReplaceRestore(restore, attributes);
          return Ok();
        },
        events::LifecycleEvents(
            bucket_, completes ? "ObjectRestore:Completed" : "ObjectRestore:Delete", owners_)));
  }

  store::Store& store_;
  const store::BucketRecord& bucket_;
  const WallTime now_;
  const std::span<Action> actions_;
  const s3::OwnerDirectory* const owners_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

std::vector<Outcome> Apply(store::Store& store, const store::BucketPtr& bucket, WallTime now,
                           std::span<Action> actions, const s3::OwnerDirectory* owners) {
  return Applier(store, bucket, now, actions, owners).Run();
}

}  // namespace penstock::emulator::lifecycle
