// Object records as rows of `current`, `versions` and `completed` (schema.cc): reads and writes of
// single rows, and cursors for listings. The semantics of puts and deletes are in object_writes.h.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_ROWS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/store/records/records.h"
#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

inline constexpr std::string_view kNullVersion = "null";

// A record whose content is still in database form. The caller sets record.is_latest.
struct ObjectRow {
  ObjectRecord record;
  std::int64_t newest_first = 0;
  std::string slices;  // codec.h
};
using FoundRow = Result<std::optional<ObjectRow>>;

FoundRow FindCurrent(Connection& connection, std::int64_t bucket, std::string_view key);
// The newest row of the key in `versions`. It is a delete marker if the key has no current row.
FoundRow FindNewestArchived(Connection& connection, std::int64_t bucket, std::string_view key);
FoundRow FindArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                      std::string_view version_id);

// The fields of the key's current row that a replacement needs.
struct CurrentReference {
  bool is_null_version = false;
  std::string slices;
};
Result<std::optional<CurrentReference>> FindCurrentReference(Connection& connection,
                                                             std::int64_t bucket,
                                                             std::string_view key);

// The key must have no current row.
Result<void> AddCurrent(Connection& connection, std::int64_t bucket, const ObjectRow& row);
// Inserts or replaces the row.
Result<void> PutCurrent(Connection& connection, std::int64_t bucket, const ObjectRow& row);
Result<void> PutArchived(Connection& connection, std::int64_t bucket, const ObjectRow& row);
Result<void> RemoveCurrent(Connection& connection, std::int64_t bucket, std::string_view key);
Result<void> RemoveArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                            std::int64_t newest_first);
// Move rows from `current` to `versions` and back.
Result<void> ArchiveCurrent(Connection& connection, std::int64_t bucket, std::string_view key);
Result<void> PromoteArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                             std::int64_t newest_first);
// Replaces the tags of a row that was just read.
Result<void> WriteTags(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                       const Attributes& tags);
Result<void> WriteAttributes(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                             const Attributes& attributes);
Result<void> WriteStorageClass(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                               const std::string& storage_class);
// Moves the current row of a key, unchanged, to a key that has none.
Result<void> MoveCurrent(Connection& connection, std::int64_t bucket, std::string_view key,
                         std::string_view to);
Result<bool> BucketHasObjects(Connection& connection, std::int64_t bucket);

// Records the result of a completed upload. Deletes all but the latest `limit` records.
Result<void> RecordCompleted(Connection& connection, std::int64_t bucket,
                             std::string_view upload_id, const ObjectRow& row, std::int64_t limit);
FoundRow FindCompletedRow(Connection& connection, std::int64_t bucket, std::string_view key,
                          std::string_view upload_id);

enum class Walk { kForwards, kBackwards };

// Iterates over `current` in key order.
class CurrentCursor {
 public:
  CurrentCursor(Connection& connection, std::int64_t bucket, Walk walk = Walk::kForwards);
  // Moves to the first row with a key >= `key`; backwards, to the last row with a key < `key`.
  // `key` must stay valid until the next Seek.
  Result<void> Seek(std::string_view key);
  Result<void> Next();
  bool AtEnd() const { return at_end_; }
  std::string_view key() const { return query_.Bytes(0); }
  std::int64_t newest_first() const { return query_.Int(1); }
  // The row as a list entry, with its texts copied to `text`. `last`: an entry of the same page
  // or an empty one; texts equal to its texts are not copied again. The caller sets is_latest.
  ListEntry Entry(TextArena& text, const ListEntry& last) const;

 private:
  Query query_;
  const std::int64_t bucket_;
  bool at_end_ = true;
};

// Iterates over `versions` in key order, newest first.
class ArchivedCursor {
 public:
  ArchivedCursor(Connection& connection, std::int64_t bucket);
  // Moves to the first row after (key, newest_first). INT64_MIN: to the first row with a key >=
  // `key`.
  Result<void> Seek(std::string_view key, std::int64_t newest_first);
  Result<void> Next();
  bool AtEnd() const { return at_end_; }
  std::string_view key() const { return query_.Bytes(0); }
  std::int64_t newest_first() const { return query_.Int(1); }
  ListEntry Entry(TextArena& text, const ListEntry& last) const;

 private:
  Query query_;
  const std::int64_t bucket_;
  bool at_end_ = true;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_ROWS_H_
