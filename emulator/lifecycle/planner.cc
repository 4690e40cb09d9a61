#include "emulator/lifecycle/planner.h"

#include <algorithm>
#include <utility>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/core/call.h"
#include "emulator/s3/core/restore_state.h"

namespace penstock::emulator::lifecycle {
namespace {

Action ActionOn(const store::ListEntry& entry) {
  Action action;
  action.key = ObjectKey(std::string(entry.key));
  action.version_id = VersionId(std::string(entry.version_id));
  action.etag = ETag(std::string(entry.etag));
  action.last_modified = entry.last_modified;
  action.size = entry.size;
  return action;
}

Action Removal(Action action, ActionKind kind, const s3::LifecycleAction& removal) {
  action.kind = kind;
  action.rule_id = removal.rule_id;
  action.date = removal.date;
  return action;
}

Action Move(Action action, ActionKind kind, const s3::LifecycleTransition& transition,
            std::string_view from) {
  action.kind = kind;
  action.rule_id = transition.action.rule_id;
  action.date = transition.action.date;
  action.from = from;
  action.to = transition.storage_class;
  return action;
}

}  // namespace

void Planner::SetBucket(store::BucketPtr bucket) {
  bucket_ = std::move(bucket);
  rules_ = s3::LifecycleRules::Of(*bucket_);
  has_restores_ = s3::FindConfiguration(*bucket_, s3::kRestoresKey) != nullptr;
}

Result<void> Planner::AddVersion(const store::ListEntry& entry, std::vector<Action>& actions) {
  if (entry.key != key_.name || entry.is_latest) {
    EndKey(actions);
    key_.name = entry.key;
  }
  if (key_.replaces_null && entry.version_id == "null") return Ok();
  if (!NeedsObject(entry)) return AddLoaded(entry, nullptr, actions);
  const auto object = store_.FindObject(bucket_->name, ObjectKey(std::string(entry.key)),
                                        VersionId(std::string(entry.version_id)));
  if (!object.ok()) {
    if (object.error().kind == ErrorKind::kNotFound) return Ok();  // deleted since it was listed
    return object.error();
  }
  return AddLoaded(entry, object->get(), actions);
}

bool Planner::NeedsObject(const store::ListEntry& entry) const {
  if (entry.is_delete_marker) return false;
  if (has_restores_ && s3::IsArchived(entry.storage_class)) return true;
  return rules_ != nullptr && rules_->NeedsTags(entry.key, entry.size);
}

Result<void> Planner::AddLoaded(const store::ListEntry& entry, const store::ObjectRecord* object,
                                std::vector<Action>& actions) {
  s3::LifecycleVersion version{.key = entry.key,
                               .size = entry.size,
                               .last_modified = entry.last_modified,
                               .storage_class = entry.storage_class,
                               .is_delete_marker = entry.is_delete_marker,
                               .tags = object == nullptr ? nullptr : &object->tags};
  if (!entry.is_latest) {
    // The date of a multipart object is the start of its upload, which may precede this version.
    version.noncurrent_since =
        std::max(key_.newer.value_or(entry.last_modified), entry.last_modified);
    version.newer_noncurrent = key_.noncurrent++;
  }
  key_.newer = entry.last_modified;
  s3::LifecycleDecision decision;
  if (rules_ != nullptr) decision = rules_->Decide(version, now_);
  KeepNext(decision.next);

  const bool latest = entry.is_latest;
  if (latest && entry.is_delete_marker) {
    if (decision.removal)
      key_.marker = Removal(ActionOn(entry), ActionKind::kExpireDeleteMarker, *decision.removal);
    return Ok();
  }
  const bool versioned = bucket_->versioning != store::Versioning::kNever;
  const bool keeps_version =
      bucket_->versioning == store::Versioning::kEnabled || entry.version_id != "null";
  // Whether the version no longer exists after the removal.
  bool removed = decision.removal && (!latest || !keeps_version);
  if (removed && locked_ == LockedVersions::kLeftOut && IsLocked(entry)) {
    removed = false;
    decision.removal.reset();
  }
  key_.has_survivors = key_.has_survivors || !removed;
  // A permanent deletion precedes a transition, which precedes a delete marker.
  if (!removed && decision.transition) {
    const auto kind = latest ? ActionKind::kTransition : ActionKind::kTransitionNoncurrent;
    actions.push_back(Move(ActionOn(entry), kind, *decision.transition, entry.storage_class));
  }
  if (decision.removal) {
    ActionKind kind = ActionKind::kExpireNoncurrentVersion;
    if (latest) kind = versioned ? ActionKind::kCreateDeleteMarker : ActionKind::kExpireObject;
    actions.push_back(Removal(ActionOn(entry), kind, *decision.removal));
    if (latest) SetMarker(keeps_version);
  }
  if (!removed && object != nullptr && has_restores_) AddRestore(ActionOn(entry), *object, actions);
  return Ok();
}

void Planner::SetMarker(bool keeps_version) {
  // The current version becomes a noncurrent one of the versions below, or the delete marker
  // replaces it and is the successor of the version below.
  if (keeps_version) {
    key_.noncurrent = 1;
  } else {
    key_.newer = now_;
  }
  key_.replaces_null = bucket_->versioning == store::Versioning::kSuspended;
}

bool Planner::IsLocked(const store::ListEntry& entry) const {
  if (!s3::HasObjectLock(*bucket_) || entry.is_delete_marker) return false;
  const auto object = store_.FindObject(bucket_->name, ObjectKey(std::string(entry.key)),
                                        VersionId(std::string(entry.version_id)));
  return object.ok() &&
         !s3::CheckUnlocked(s3::StoredObjectLock((*object)->attributes), now_, /*bypass=*/false)
              .ok();
}

void Planner::AddRestore(const Action& version, const store::ObjectRecord& object,
                         std::vector<Action>& actions) {
  const auto restore = s3::StoredRestore(object.attributes);
  if (!restore) return;
  for (const auto& [kind, date] : {std::pair(ActionKind::kCompleteRestore, restore->ready),
                                   std::pair(ActionKind::kExpireRestore, restore->expiry)}) {
    if (kind == ActionKind::kCompleteRestore && restore->completed) continue;
    if (date > now_) {
      KeepNext(date);
      continue;
    }
    Action action = version;
    action.kind = kind;
    action.date = date;
    actions.push_back(std::move(action));
  }
}

// A delete marker expires only after every other version of its key.
void Planner::EndKey(std::vector<Action>& actions) {
  if (key_.marker && !key_.has_survivors) actions.push_back(*std::move(key_.marker));
  key_ = Key();
}

void Planner::AddUpload(const store::UploadRecord& upload, std::vector<Action>& actions) {
  const auto abort = rules_ == nullptr ? std::nullopt : rules_->AbortOf(upload);
  if (!abort) return;
  if (abort->date > now_) return KeepNext(abort->date);
  Action action;
  action.kind = ActionKind::kAbortUpload;
  action.key = upload.key;
  action.upload_id = upload.id;
  action.rule_id = abort->rule_id;
  action.date = abort->date;
  actions.push_back(std::move(action));
}

void Planner::KeepNext(std::optional<WallTime> date) {
  if (date && (!next_ || *date < *next_)) next_ = date;
}

}  // namespace penstock::emulator::lifecycle
