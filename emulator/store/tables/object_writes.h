// What writing and deleting mean in each versioning state (spec/protocol.md §2.7), as changes of
// rows inside one transaction. Knows nothing of caches or threads.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_WRITES_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_WRITES_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/tables/bucket_table.h"
#include "emulator/store/tables/object_rows.h"
#include "emulator/store/write_queue.h"

namespace penstock::emulator::store {

// The surroundings of one write.
struct ObjectWrite {
  WriteTransaction& transaction;
  const std::shared_ptr<BlobRegistry>& registry;
  const Bucket& bucket;
  std::int64_t sequence;  // newer than every other write's
  WallTime now;

  Connection& connection() const { return transaction.connection(); }
};

// The latest version of the key (possibly a marker) with is_latest set; nullopt when it has none.
FoundRow FindLatest(Connection& connection, std::int64_t bucket, std::string_view key);
// kNotFound with code NoSuchVersion when absent. is_latest is set.
Result<ObjectRow> FindVersion(Connection& connection, const Bucket& bucket, const ObjectKey& key,
                              const VersionId& version);

// Asks `precondition`, if there is one, about the latest version.
Result<void> CheckPrecondition(const ObjectWrite& write, const ObjectKey& key,
                               const Precondition& precondition);
// Asks the request's precondition, and its `removal` about the version it names.
Result<void> CheckDelete(const ObjectWrite& write, const DeleteObject& request);

// Makes `row` the key's latest version: fills version id, order and, where unset, the time;
// archives or replaces what was there. row.slices must already be counted.
Result<void> PlaceObject(const ObjectWrite& write, ObjectRow& row);

// Deletes without a version id: removes the null version, or hides the key behind a new marker.
Result<DeleteOutcome> DeleteLatest(const ObjectWrite& write, const ObjectKey& key);
// Removes one version for good; the next older one becomes the latest.
Result<DeleteOutcome> DeleteVersion(const ObjectWrite& write, const ObjectKey& key,
                                    const VersionId& version);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_WRITES_H_
