// The semantics of writes and deletions in each versioning state (Amazon S3 User Guide, "How S3
// Versioning works"), as changes of rows in one transaction. Independent of caches and threads.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_WRITES_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_WRITES_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/commits/write_queue.h"
#include "emulator/store/system/change_signal.h"
#include "emulator/store/tables/bucket_table.h"
#include "emulator/store/tables/object_rows.h"

namespace penstock::emulator::store {

// The context of one write.
struct ObjectWrite {
  WriteTransaction& transaction;
  const std::shared_ptr<BlobRegistry>& registry;
  const Bucket& bucket;
  std::int64_t sequence;  // greater than that of every earlier write
  WallTime now;
  ChangeSignal& event_signal;

  Connection& connection() const { return transaction.connection(); }
};

// The latest version of the key, possibly a delete marker, with is_latest set; nullopt: there is
// none.
FoundRow FindLatest(Connection& connection, std::int64_t bucket, std::string_view key);
// kNotFound with code NoSuchVersion if absent. Sets is_latest.
Result<ObjectRow> FindVersion(Connection& connection, const Bucket& bucket, const ObjectKey& key,
                              const VersionId& version);

// Calls `precondition`, if set, with the latest version.
Result<void> CheckPrecondition(const ObjectWrite& write, const ObjectKey& key,
                               const Precondition& precondition);
// Calls the request's precondition, and its `removal` with the version that it names.
Result<void> CheckDelete(const ObjectWrite& write, const DeleteObject& request);

// Makes `row` the latest version of its key. Sets version id, order and, if unset, the time, and
// archives or replaces the previous version. The references of row.slices must already be counted.
Result<void> PlaceObject(const ObjectWrite& write, ObjectRow& row);

// Deletes without a version id: removes the null version, or adds a delete marker that hides the
// key.
Result<DeleteOutcome> DeleteLatest(const ObjectWrite& write, const ObjectKey& key);
// Removes one version permanently; the next older version becomes the latest.
Result<DeleteOutcome> DeleteVersion(const ObjectWrite& write, const ObjectKey& key,
                                    const VersionId& version);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_WRITES_H_
