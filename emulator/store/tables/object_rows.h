// Object records as rows of `current`, `versions` and `completed` (schema.cc): reading and writing
// single rows, and cursors for listings. Decides nothing: what a put or a delete means is
// object_writes' business.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_ROWS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_OBJECT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store.h"

namespace penstock::emulator::store {

inline constexpr std::string_view kNullVersion = "null";

// A record without its content, which is still in database form. record.is_latest is the caller's
// to set.
struct ObjectRow {
  ObjectRecord record;
  std::int64_t newest_first = 0;
  std::string slices;  // codec.h
};
using FoundRow = Result<std::optional<ObjectRow>>;

FoundRow FindCurrent(Connection& connection, std::int64_t bucket, std::string_view key);
// The newest of the key's rows in `versions`; a delete marker when the key has no current row.
FoundRow FindNewestArchived(Connection& connection, std::int64_t bucket, std::string_view key);
FoundRow FindArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                      std::string_view version_id);

// What writing over the key's current row needs to know of it.
struct CurrentReference {
  bool is_null_version = false;
  std::string slices;
};
Result<std::optional<CurrentReference>> FindCurrentReference(Connection& connection,
                                                             std::int64_t bucket,
                                                             std::string_view key);

// The key must have no current row.
Result<void> AddCurrent(Connection& connection, std::int64_t bucket, const ObjectRow& row);
// Inserts or replaces.
Result<void> PutCurrent(Connection& connection, std::int64_t bucket, const ObjectRow& row);
Result<void> PutArchived(Connection& connection, std::int64_t bucket, const ObjectRow& row);
Result<void> RemoveCurrent(Connection& connection, std::int64_t bucket, std::string_view key);
Result<void> RemoveArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                            std::int64_t newest_first);
// current -> versions and back.
Result<void> ArchiveCurrent(Connection& connection, std::int64_t bucket, std::string_view key);
Result<void> PromoteArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                             std::int64_t newest_first);
// Replaces the tags of a row just read.
Result<void> WriteTags(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                       const Attributes& tags);
Result<void> WriteAttributes(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                             const Attributes& attributes);
// Of a key that has a current row, to one that has none. The row stays as it is.
Result<void> MoveCurrent(Connection& connection, std::int64_t bucket, std::string_view key,
                         std::string_view to);
Result<bool> BucketHasObjects(Connection& connection, std::int64_t bucket);

// Remembers what a completed upload made; forgets all but the latest `limit`.
Result<void> RememberCompleted(Connection& connection, std::int64_t bucket,
                               std::string_view upload_id, const ObjectRow& row,
                               std::int64_t limit);
FoundRow FindRemembered(Connection& connection, std::int64_t bucket, std::string_view key,
                        std::string_view upload_id);

enum class Walk { kForwards, kBackwards };

// Walks `current` in key order.
class CurrentCursor {
 public:
  CurrentCursor(Connection& connection, std::int64_t bucket, Walk walk = Walk::kForwards);
  // To the first row with a key >= `key`; backwards to the last one with a key < `key`. It must
  // live until the next Seek.
  Result<void> Seek(std::string_view key);
  Result<void> Next();
  bool AtEnd() const { return at_end_; }
  std::string_view key() const { return query_.Bytes(0); }
  std::int64_t newest_first() const { return query_.Int(1); }
  // The row as a listing shows it, its texts copied into `text`. `last`: an entry of the same page
  // or an empty one; what is equal there is not copied again. is_latest is the caller's to set.
  ListEntry Entry(TextArena& text, const ListEntry& last) const;

 private:
  Query query_;
  const std::int64_t bucket_;
  bool at_end_ = true;
};

// Walks `versions` in the order key, newest first.
class ArchivedCursor {
 public:
  ArchivedCursor(Connection& connection, std::int64_t bucket);
  // To the first row behind (key, newest_first); INT64_MIN: to the first row with a key >= `key`.
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
