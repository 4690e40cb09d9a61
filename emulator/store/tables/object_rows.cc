#include "emulator/store/tables/object_rows.h"

#include "emulator/store/records/codec.h"

// Column lists as literals, so that a statement can be compiled once per connection and cached by
// its address.
#define SUMMARY_COLUMNS                                                                            \
  "key, newest_first, version_id, is_marker, size, etag, last_modified, owner_id, storage_class, " \
  "checksum_algorithm, checksum_type, checksum"
#define ALL_COLUMNS SUMMARY_COLUMNS ", attributes, tags, content, parts"
#define ENTRY_COLUMNS                                                                              \
  "key, newest_first, version_id, is_marker, size, etag, last_modified, owner_id, storage_class, " \
  "checksum_algorithm, checksum_type"
#define ALL_PLACES "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

namespace penstock::emulator::store {
namespace {

ObjectRow ReadSummary(const Query& query) {
  ObjectRow row;
  ObjectRecord& record = row.record;
  record.key = ObjectKey(query.Text(0));
  row.newest_first = query.Int(1);
  record.version_id = VersionId(query.Text(2));
  record.is_delete_marker = query.Int(3) != 0;
  record.size = static_cast<std::uint64_t>(query.Int(4));
  record.etag = ETag(query.Text(5));
  record.last_modified = FromNanoseconds(query.Int(6));
  record.owner_id = query.Text(7);
  record.storage_class = query.Text(8);
  record.checksum_algorithm = query.Text(9);
  record.checksum_type = query.Text(10);
  record.checksum = query.Text(11);
  return row;
}

// Adjacent entries usually have the same owner, storage class and checksum type.
std::string_view CopyUnlessSame(TextArena& text, std::string_view value, std::string_view last) {
  return value == last ? last : text.Copy(value);
}

ListEntry ReadEntry(const Query& query, TextArena& text, const ListEntry& last) {
  ListEntry entry;
  entry.key = text.Copy(query.Bytes(0));
  entry.version_id = CopyUnlessSame(text, query.Bytes(2), last.version_id);
  entry.is_delete_marker = query.Int(3) != 0;
  entry.size = static_cast<std::uint64_t>(query.Int(4));
  entry.etag = text.Copy(query.Bytes(5));
  entry.last_modified = FromNanoseconds(query.Int(6));
  entry.owner_id = CopyUnlessSame(text, query.Bytes(7), last.owner_id);
  entry.storage_class = CopyUnlessSame(text, query.Bytes(8), last.storage_class);
  entry.checksum_algorithm = CopyUnlessSame(text, query.Bytes(9), last.checksum_algorithm);
  entry.checksum_type = CopyUnlessSame(text, query.Bytes(10), last.checksum_type);
  return entry;
}

// Reads the row of `query`, which selects ALL_COLUMNS.
FoundRow ReadOne(const Connection& connection, Query& query) {
  PENSTOCK_ASSIGN(const bool found, query.Step());
  if (!found) return std::optional<ObjectRow>();
  ObjectRow row = ReadSummary(query);
  auto attributes = DecodeAttributes(query.Bytes(12));
  auto tags = DecodeAttributes(query.Bytes(13));
  auto parts = DecodeParts(query.Bytes(15));
  if (!attributes || !tags || !parts) {
    return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                                 " contains a damaged object record")
        .At("", "", row.record.key.value);
  }
  row.record.attributes = std::move(*attributes);
  row.record.tags = std::move(*tags);
  row.record.parts = std::move(*parts);
  row.slices = query.Text(14);
  return std::optional<ObjectRow>(std::move(row));
}

// Binds ALL_COLUMNS and runs the query, during which the packed lists are alive here.
Result<void> WriteRow(Query& query, const ObjectRow& row) {
  const ObjectRecord& record = row.record;
  const std::string attributes = EncodeAttributes(record.attributes);
  const std::string tags = EncodeAttributes(record.tags);
  const std::string parts = EncodeParts(record.parts);
  query.BindBytes(record.key.value).Bind(row.newest_first).BindText(record.version_id.value);
  query.Bind(record.is_delete_marker ? 1 : 0)
      .Bind(static_cast<std::int64_t>(record.size))
      .BindText(record.etag.value);
  query.Bind(ToNanoseconds(record.last_modified))
      .BindText(record.owner_id)
      .BindText(record.storage_class);
  query.BindText(record.checksum_algorithm)
      .BindText(record.checksum_type)
      .BindText(record.checksum);
  query.BindBytes(attributes).BindBytes(tags).BindBytes(row.slices).BindBytes(parts);
  return query.Run();
}

}  // namespace

FoundRow FindCurrent(Connection& connection, std::int64_t bucket, std::string_view key) {
  Query query(connection, "SELECT " ALL_COLUMNS " FROM current WHERE bucket=? AND key=?");
  query.Bind(bucket).BindBytes(key);
  return ReadOne(connection, query);
}

FoundRow FindNewestArchived(Connection& connection, std::int64_t bucket, std::string_view key) {
  Query query(connection, "SELECT " ALL_COLUMNS
                          " FROM versions WHERE bucket=? AND key=? ORDER BY newest_first LIMIT 1");
  query.Bind(bucket).BindBytes(key);
  return ReadOne(connection, query);
}

FoundRow FindArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                      std::string_view version_id) {
  Query query(connection,
              "SELECT " ALL_COLUMNS " FROM versions WHERE bucket=? AND key=? AND version_id=?");
  query.Bind(bucket).BindBytes(key).BindText(version_id);
  return ReadOne(connection, query);
}

Result<std::optional<CurrentReference>> FindCurrentReference(Connection& connection,
                                                             std::int64_t bucket,
                                                             std::string_view key) {
  Query query(connection, "SELECT version_id, content FROM current WHERE bucket=? AND key=?");
  PENSTOCK_ASSIGN(const bool found, query.Bind(bucket).BindBytes(key).Step());
  if (!found) return std::optional<CurrentReference>();
  return std::optional<CurrentReference>({query.Bytes(0) == kNullVersion, query.Text(1)});
}

// Does not use REPLACE: after replacing one row, SQLite prepares to undo the statement in case the
// next row fails.
Result<void> AddCurrent(Connection& connection, std::int64_t bucket, const ObjectRow& row) {
  Query query(connection, "INSERT INTO current(bucket, " ALL_COLUMNS ") VALUES(?," ALL_PLACES ")");
  query.Bind(bucket);
  return WriteRow(query, row);
}

Result<void> PutCurrent(Connection& connection, std::int64_t bucket, const ObjectRow& row) {
  Query query(connection, "REPLACE INTO current(bucket, " ALL_COLUMNS ") VALUES(?," ALL_PLACES ")");
  query.Bind(bucket);
  return WriteRow(query, row);
}

Result<void> PutArchived(Connection& connection, std::int64_t bucket, const ObjectRow& row) {
  Query query(connection,
              "REPLACE INTO versions(bucket, " ALL_COLUMNS ") VALUES(?," ALL_PLACES ")");
  query.Bind(bucket);
  return WriteRow(query, row);
}

Result<void> RemoveCurrent(Connection& connection, std::int64_t bucket, std::string_view key) {
  Query query(connection, "DELETE FROM current WHERE bucket=? AND key=?");
  return query.Bind(bucket).BindBytes(key).Run();
}

Result<void> RemoveArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                            std::int64_t newest_first) {
  Query query(connection, "DELETE FROM versions WHERE bucket=? AND key=? AND newest_first=?");
  return query.Bind(bucket).BindBytes(key).Bind(newest_first).Run();
}

Result<void> ArchiveCurrent(Connection& connection, std::int64_t bucket, std::string_view key) {
  Query query(connection, "INSERT INTO versions(bucket, " ALL_COLUMNS
                          ") SELECT bucket, " ALL_COLUMNS " FROM current WHERE bucket=? AND key=?");
  PENSTOCK_TRY(query.Bind(bucket).BindBytes(key).Run());
  return RemoveCurrent(connection, bucket, key);
}

Result<void> PromoteArchived(Connection& connection, std::int64_t bucket, std::string_view key,
                             std::int64_t newest_first) {
  Query query(connection, "INSERT INTO current(bucket, " ALL_COLUMNS ") SELECT bucket, " ALL_COLUMNS
                          " FROM versions WHERE bucket=? AND key=? AND newest_first=?");
  PENSTOCK_TRY(query.Bind(bucket).BindBytes(key).Bind(newest_first).Run());
  return RemoveArchived(connection, bucket, key, newest_first);
}

namespace {

// One statement per table, because a version is a row in one of the two.
struct Updates {
  const char* current;
  const char* archived;
};
constexpr Updates kUpdateTags = {
    "UPDATE current SET tags=? WHERE bucket=? AND key=? AND newest_first=?",
    "UPDATE versions SET tags=? WHERE bucket=? AND key=? AND newest_first=?"};
constexpr Updates kUpdateAttributes = {
    "UPDATE current SET attributes=? WHERE bucket=? AND key=? AND newest_first=?",
    "UPDATE versions SET attributes=? WHERE bucket=? AND key=? AND newest_first=?"};

Result<void> Write(Connection& connection, const Updates& updates, std::int64_t bucket,
                   const ObjectRow& row, const Attributes& values) {
  const std::string packed = EncodeAttributes(values);
  for (const char* sql : {updates.current, updates.archived}) {
    Query query(connection, sql);
    PENSTOCK_TRY(query.BindBytes(packed)
                     .Bind(bucket)
                     .BindBytes(row.record.key.value)
                     .Bind(row.newest_first)
                     .Run());
  }
  return Ok();
}

}  // namespace

Result<void> WriteTags(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                       const Attributes& tags) {
  return Write(connection, kUpdateTags, bucket, row, tags);
}

Result<void> WriteAttributes(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                             const Attributes& attributes) {
  return Write(connection, kUpdateAttributes, bucket, row, attributes);
}

Result<void> WriteStorageClass(Connection& connection, std::int64_t bucket, const ObjectRow& row,
                               const std::string& storage_class) {
  for (const char* sql :
       {"UPDATE current SET storage_class=? WHERE bucket=? AND key=? AND newest_first=?",
        "UPDATE versions SET storage_class=? WHERE bucket=? AND key=? AND newest_first=?"}) {
    Query query(connection, sql);
    PENSTOCK_TRY(query.BindText(storage_class)
                     .Bind(bucket)
                     .BindBytes(row.record.key.value)
                     .Bind(row.newest_first)
                     .Run());
  }
  return Ok();
}

Result<void> MoveCurrent(Connection& connection, std::int64_t bucket, std::string_view key,
                         std::string_view to) {
  Query query(connection, "UPDATE current SET key=?3 WHERE bucket=?1 AND key=?2");
  return query.Bind(bucket).BindBytes(key).BindBytes(to).Run();
}

Result<bool> BucketHasObjects(Connection& connection, std::int64_t bucket) {
  Query query(connection,
              "SELECT EXISTS(SELECT 1 FROM current WHERE bucket=?1) OR EXISTS(SELECT 1 FROM "
              "versions WHERE bucket=?1)");
  PENSTOCK_ASSIGN(const bool row, query.Bind(bucket).Step());
  return row && query.Int(0) != 0;
}

Result<void> RecordCompleted(Connection& connection, std::int64_t bucket,
                             std::string_view upload_id, const ObjectRow& row, std::int64_t limit) {
  // WriteRow also binds ?17, the content, which is not stored.
  Query insert(connection, "INSERT INTO completed(ordinal, upload_id, bucket, " SUMMARY_COLUMNS
                           ", attributes, tags, parts) "
                           "VALUES((SELECT coalesce(max(ordinal), 0) + 1 FROM completed),"
                           "?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?18)");
  insert.BindText(upload_id).Bind(bucket);
  PENSTOCK_TRY(WriteRow(insert, row));
  Query prune(connection,
              "DELETE FROM completed WHERE ordinal <= (SELECT max(ordinal) FROM completed) - ?");
  return prune.Bind(limit).Run();
}

FoundRow FindCompletedRow(Connection& connection, std::int64_t bucket, std::string_view key,
                          std::string_view upload_id) {
  Query query(
      connection,
      "SELECT " SUMMARY_COLUMNS
      ", attributes, tags, x'', parts FROM completed WHERE upload_id=? AND bucket=? AND key=?");
  query.BindText(upload_id).Bind(bucket).BindBytes(key);
  return ReadOne(connection, query);
}

CurrentCursor::CurrentCursor(Connection& connection, std::int64_t bucket, Walk walk)
    : query_(connection, walk == Walk::kForwards
                             ? "SELECT " ENTRY_COLUMNS
                               " FROM current WHERE bucket=? AND key>=? ORDER BY key"
                             : "SELECT " ENTRY_COLUMNS
                               " FROM current WHERE bucket=? AND key<? ORDER BY key DESC"),
      bucket_(bucket) {}

Result<void> CurrentCursor::Seek(std::string_view key) {
  query_.Reset();
  query_.Bind(bucket_).BindBytes(key);
  return Next();
}

Result<void> CurrentCursor::Next() {
  PENSTOCK_ASSIGN(const bool row, query_.Step());
  at_end_ = !row;
  return Ok();
}

ListEntry CurrentCursor::Entry(TextArena& text, const ListEntry& last) const {
  return ReadEntry(query_, text, last);
}

ArchivedCursor::ArchivedCursor(Connection& connection, std::int64_t bucket)
    : query_(connection, "SELECT " ENTRY_COLUMNS
                         " FROM versions WHERE bucket=? AND (key, newest_first) > (?, ?) ORDER BY "
                         "key, newest_first"),
      bucket_(bucket) {}

Result<void> ArchivedCursor::Seek(std::string_view key, std::int64_t newest_first) {
  query_.Reset();
  query_.Bind(bucket_).BindBytes(key).Bind(newest_first);
  return Next();
}

Result<void> ArchivedCursor::Next() {
  PENSTOCK_ASSIGN(const bool row, query_.Step());
  at_end_ = !row;
  return Ok();
}

ListEntry ArchivedCursor::Entry(TextArena& text, const ListEntry& last) const {
  return ReadEntry(query_, text, last);
}

}  // namespace penstock::emulator::store
