#include "emulator/store/tables/object_writes.h"

#include <utility>

#include "emulator/store/records/ids.h"
#include "emulator/store/tables/blob_references.h"

namespace penstock::emulator::store {
namespace {

Result<void> Release(const ObjectWrite& write, const ObjectRow& row) {
  return ReleaseReferences(write.transaction, write.registry, row.slices);
}

Result<void> DropArchived(const ObjectWrite& write, const ObjectRow& row) {
  PENSTOCK_TRY(Release(write, row));
  return RemoveArchived(write.connection(), write.bucket.id, row.record.key.value,
                        row.newest_first);
}

enum class Before { kNothing, kArchived, kReplaceable };

// Prepares for a new latest version. A version with an id of its own is archived. A null
// version is released unless versioning is enabled; its row is left for the caller to replace or
// remove (kReplaceable).
Result<Before> DisplaceLatest(const ObjectWrite& write, std::string_view key) {
  const bool keep_all = write.bucket.record->versioning == Versioning::kEnabled;
  PENSTOCK_ASSIGN(const auto current,
                  FindCurrentReference(write.connection(), write.bucket.id, key));
  if (current.has_value() && !keep_all && current->is_null_version) {
    PENSTOCK_TRY(ReleaseReferences(write.transaction, write.registry, current->slices));
    return Before::kReplaceable;  // there is at most one null version
  }
  if (current.has_value()) PENSTOCK_TRY(ArchiveCurrent(write.connection(), write.bucket.id, key));
  if (write.bucket.record->versioning == Versioning::kSuspended) {
    PENSTOCK_ASSIGN(const auto old_null,
                    FindArchived(write.connection(), write.bucket.id, key, kNullVersion));
    if (old_null.has_value()) PENSTOCK_TRY(DropArchived(write, *old_null));
  }
  return current.has_value() ? Before::kArchived : Before::kNothing;
}

VersionId NewVersionId(const ObjectWrite& write) {
  if (write.bucket.record->versioning == Versioning::kEnabled) return MakeVersionId(write.sequence);
  return VersionId(std::string(kNullVersion));
}

// After a version was removed, makes the newest archived version current, unless it is a delete
// marker.
Result<void> Promote(const ObjectWrite& write, std::string_view key) {
  PENSTOCK_ASSIGN(const auto newest, FindNewestArchived(write.connection(), write.bucket.id, key));
  if (!newest.has_value() || newest->record.is_delete_marker) return Ok();
  return PromoteArchived(write.connection(), write.bucket.id, key, newest->newest_first);
}

}  // namespace

FoundRow FindLatest(Connection& connection, std::int64_t bucket, std::string_view key) {
  PENSTOCK_ASSIGN(auto latest, FindCurrent(connection, bucket, key));
  if (!latest.has_value()) {
    PENSTOCK_ASSIGN(latest, FindNewestArchived(connection, bucket, key));
  }
  if (latest.has_value()) latest->record.is_latest = true;
  return latest;
}

Result<ObjectRow> FindVersion(Connection& connection, const Bucket& bucket, const ObjectKey& key,
                              const VersionId& version) {
  PENSTOCK_ASSIGN(auto latest, FindLatest(connection, bucket.id, key.value));
  if (latest.has_value() && latest->record.version_id == version) return std::move(*latest);
  PENSTOCK_ASSIGN(auto archived, FindArchived(connection, bucket.id, key.value, version.value));
  if (archived.has_value()) {
    archived->record.is_latest = false;
    return std::move(*archived);
  }
  Error error = Error::Make(ErrorKind::kNotFound, "The specified version does not exist.");
  error.code = "NoSuchVersion";
  return std::move(error).At("", bucket.record->name.value, key.value);
}

Result<void> CheckPrecondition(const ObjectWrite& write, const ObjectKey& key,
                               const Precondition& precondition) {
  if (!precondition) return Ok();
  PENSTOCK_ASSIGN(const auto latest, FindLatest(write.connection(), write.bucket.id, key.value));
  return precondition(latest.has_value() ? &latest->record : nullptr);
}

Result<void> CheckDelete(const ObjectWrite& write, const DeleteObject& request) {
  PENSTOCK_TRY(CheckPrecondition(write, request.key, request.precondition));
  if (!request.removal || !request.version_id) return Ok();
  const auto version =
      FindVersion(write.connection(), write.bucket, request.key, *request.version_id);
  if (!version.ok() && version.error().code != "NoSuchVersion") return version.error();
  return request.removal(version.ok() ? &version->record : nullptr);
}

Result<void> PlaceObject(const ObjectWrite& write, ObjectRow& row) {
  ObjectRecord& record = row.record;
  PENSTOCK_ASSIGN(const Before before, DisplaceLatest(write, record.key.value));
  row.newest_first = -write.sequence;
  record.version_id = NewVersionId(write);
  record.is_latest = true;
  record.is_delete_marker = false;
  if (record.last_modified == WallTime{}) record.last_modified = write.now;
  if (before == Before::kReplaceable) return PutCurrent(write.connection(), write.bucket.id, row);
  return AddCurrent(write.connection(), write.bucket.id, row);
}

Result<DeleteOutcome> DeleteLatest(const ObjectWrite& write, const ObjectKey& key) {
  DeleteOutcome outcome;
  PENSTOCK_ASSIGN(const Before before, DisplaceLatest(write, key.value));
  outcome.existed = before != Before::kNothing;
  if (before == Before::kReplaceable)
    PENSTOCK_TRY(RemoveCurrent(write.connection(), write.bucket.id, key.value));
  if (write.bucket.record->versioning == Versioning::kNever) return outcome;
  ObjectRow marker;
  marker.newest_first = -write.sequence;
  marker.record.key = key;
  marker.record.version_id = NewVersionId(write);
  marker.record.is_delete_marker = true;
  marker.record.last_modified = write.now;
  marker.record.owner_id = write.bucket.record->owner_id;
  PENSTOCK_TRY(PutArchived(write.connection(), write.bucket.id, marker));
  outcome.created_marker = true;
  outcome.version_id = marker.record.version_id;
  return outcome;
}

Result<DeleteOutcome> DeleteVersion(const ObjectWrite& write, const ObjectKey& key,
                                    const VersionId& version) {
  DeleteOutcome outcome;
  outcome.version_id = version;
  PENSTOCK_ASSIGN(const auto current, FindCurrent(write.connection(), write.bucket.id, key.value));
  if (current.has_value() && current->record.version_id == version) {
    PENSTOCK_TRY(Release(write, *current));
    PENSTOCK_TRY(RemoveCurrent(write.connection(), write.bucket.id, key.value));
    PENSTOCK_TRY(Promote(write, key.value));
    outcome.existed = true;
    return outcome;
  }
  PENSTOCK_ASSIGN(const auto archived,
                  FindArchived(write.connection(), write.bucket.id, key.value, version.value));
  if (!archived.has_value()) return outcome;
  PENSTOCK_TRY(DropArchived(write, *archived));
  if (!current.has_value()) PENSTOCK_TRY(Promote(write, key.value));
  outcome.existed = true;
  outcome.removed_marker = archived->record.is_delete_marker;
  return outcome;
}

}  // namespace penstock::emulator::store
