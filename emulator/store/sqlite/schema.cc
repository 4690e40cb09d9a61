#include "emulator/store/sqlite/schema.h"

#include <array>
#include <filesystem>
#include <system_error>

#include "emulator/store/checks/commit_check.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/sqlite/migration_functions.h"
#include "emulator/store/sqlite/migrations.h"

namespace penstock::emulator::store {
namespace {

// `current` has the keys whose latest version is an object; `versions` has everything else:
// superseded versions and all delete markers. So a listing of objects never steps over versions or
// markers, and a key that is only in `versions` is hidden by the marker that comes first there.
// newest_first is the negated sequence number of the write.
//
// Large columns come last: SQLite reads a row's overflow pages only as far as a column is asked
// for. Renames that were done, by the token of their request (renaming.cc).
#define RENAMED_TABLE                                                                          \
  "CREATE TABLE renamed(ordinal INTEGER PRIMARY KEY, bucket INTEGER NOT NULL, token TEXT NOT " \
  "NULL, request BLOB NOT "                                                                    \
  "NULL, UNIQUE(bucket, token));"

constexpr char kTables[] = R"sql(
CREATE TABLE numbers(next INTEGER NOT NULL);
INSERT INTO numbers VALUES(1);

CREATE TABLE buckets(
  id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, owner_id TEXT NOT NULL, region TEXT NOT NULL,
  created INTEGER NOT NULL, versioning INTEGER NOT NULL, configuration BLOB NOT NULL);

CREATE TABLE current(
  bucket INTEGER NOT NULL, key BLOB NOT NULL, newest_first INTEGER NOT NULL, version_id TEXT NOT NULL,
  is_marker INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, last_modified INTEGER NOT NULL,
  owner_id TEXT NOT NULL, storage_class TEXT NOT NULL, checksum_algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL,
  checksum TEXT NOT NULL, attributes BLOB NOT NULL, tags BLOB NOT NULL, content BLOB NOT NULL, parts BLOB NOT NULL,
  PRIMARY KEY(bucket, key)) WITHOUT ROWID;

CREATE TABLE versions(
  bucket INTEGER NOT NULL, key BLOB NOT NULL, newest_first INTEGER NOT NULL, version_id TEXT NOT NULL,
  is_marker INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, last_modified INTEGER NOT NULL,
  owner_id TEXT NOT NULL, storage_class TEXT NOT NULL, checksum_algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL,
  checksum TEXT NOT NULL, attributes BLOB NOT NULL, tags BLOB NOT NULL, content BLOB NOT NULL, parts BLOB NOT NULL,
  PRIMARY KEY(bucket, key, newest_first)) WITHOUT ROWID;
CREATE INDEX versions_by_id ON versions(bucket, key, version_id);

CREATE TABLE blobs(id INTEGER PRIMARY KEY, refs INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB,
  checksums BLOB);

CREATE TABLE uploads(
  bucket INTEGER NOT NULL, key BLOB NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL UNIQUE,
  owner_id TEXT NOT NULL, initiated INTEGER NOT NULL, storage_class TEXT NOT NULL, checksum_algorithm TEXT NOT NULL,
  checksum_type TEXT NOT NULL, attributes BLOB NOT NULL, tags BLOB NOT NULL,
  current_at_create TEXT NOT NULL DEFAULT '', initiator TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(bucket, key, sequence)) WITHOUT ROWID;

CREATE TABLE parts(
  upload INTEGER NOT NULL, number INTEGER NOT NULL, record BLOB NOT NULL, content BLOB NOT NULL,
  PRIMARY KEY(upload, number)) WITHOUT ROWID;

CREATE TABLE completed(
  ordinal INTEGER PRIMARY KEY, upload_id TEXT NOT NULL UNIQUE, bucket INTEGER NOT NULL, key BLOB NOT NULL,
  newest_first INTEGER NOT NULL, version_id TEXT NOT NULL, is_marker INTEGER NOT NULL, size INTEGER NOT NULL,
  etag TEXT NOT NULL, last_modified INTEGER NOT NULL, owner_id TEXT NOT NULL, storage_class TEXT NOT NULL,
  checksum_algorithm TEXT NOT NULL, checksum_type TEXT NOT NULL, checksum TEXT NOT NULL, attributes BLOB NOT NULL,
  tags BLOB NOT NULL, parts BLOB NOT NULL);
)sql" RENAMED_TABLE;

// From each version to the next. kTables above always makes the newest.
constexpr std::array<Migration, kSchemaVersion - 1> kMigrations{{
    // What a completed upload made is remembered without its content: nothing counts those
    // references.
    {2, "ALTER TABLE completed DROP COLUMN content"},
    // Directory buckets: tokens of renames.
    {3, RENAMED_TABLE},
    // Checksums of blocks (block_checksums.h). What was written before has none until the scrubber
    // has read it.
    // Of an upload and of parts, fields that were kept in attributes and in the text of a checksum
    // (migration_functions.h).
    {4,
     "ALTER TABLE blobs ADD COLUMN checksums BLOB;"
     "ALTER TABLE uploads ADD COLUMN current_at_create TEXT NOT NULL DEFAULT '';"
     "ALTER TABLE uploads ADD COLUMN initiator TEXT NOT NULL DEFAULT '';"
     "UPDATE uploads SET current_at_create = attribute_of(attributes, ':current-at-create'),"
     "  initiator = attribute_of(attributes, ':initiator'),"
     "  attributes = attributes_without(attributes, ':current-at-create', ':initiator');"
     "UPDATE current SET parts = parts_of_version_4(parts) WHERE length(parts) > 0;"
     "UPDATE versions SET parts = parts_of_version_4(parts) WHERE length(parts) > 0;"
     "UPDATE completed SET parts = parts_of_version_4(parts) WHERE length(parts) > 0;"
     "UPDATE parts SET record = parts_of_version_4(record);"},
}};

// mmap halves the cost of a point read (spec/performance.md §3f) and leaves the page cache little
// to do. The writer's cache stays valid, as nobody else writes; with mmap SQLite would search the
// log for every page before it looks there.
constexpr char kCommonSettings[] = "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=0;";
constexpr char kWriterCache[] = "PRAGMA cache_size=-8192;";  // KiB
constexpr char kReaderCache[] = "PRAGMA mmap_size=1073741824; PRAGMA cache_size=-1024;";

Result<std::int64_t> SingleNumber(Connection& connection, const char* sql) {
  Query query(connection, sql);
  PENSTOCK_ASSIGN(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

std::string Schema() {
  return std::string(kTables) + "PRAGMA user_version=" + std::to_string(kSchemaVersion);
}

// In RAM, and in a file that a killed process of an earlier build left without tables.
Result<void> CreateTables(Connection& connection) {
  return connection.Execute("BEGIN;" + Schema() + ";COMMIT;PRAGMA wal_checkpoint(TRUNCATE);");
}

Error WrongVersion(const std::string& path, std::int64_t version) {
  const std::string fix =
      version > kSchemaVersion
          ? "use a build as new as the one that wrote it, or another directory"
          : "start this build's emulator on it once, which brings it up to date";
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the database file " + path + " has schema version " +
                         std::to_string(version) + ", this build's is " +
                         std::to_string(kSchemaVersion) + "; " + fix);
}

// Where the number of a page's reserved bytes is damaged, the pages cannot be verified.
Error LostPageChecksums(const std::string& path) {
  return Error::Make(ErrorKind::kDataLoss,
                     "the header of the database file " + path +
                         " is damaged: its pages have no checksums; restore the file");
}

Error NotOurs(const std::string& path) {
  return Error::Make(
      ErrorKind::kInvalidArgument,
      "the database file " + path + " was not made by this emulator; choose another directory");
}

Error NoVersion(const std::string& path) {
  return Error::Make(ErrorKind::kDataLoss,
                     "the database file " + path +
                         " has no schema version: it is damaged, or another program created it");
}

Result<std::unique_ptr<Connection>> OpenFurther(const std::string& path, const char* settings) {
  PENSTOCK_ASSIGN(auto connection, Connection::Open(path));
  PENSTOCK_TRY(connection->Execute(std::string(kCommonSettings) + settings));
  return connection;
}

}  // namespace

Result<std::unique_ptr<Connection>> OpenDatabase(const std::string& path, Durability durability) {
  const bool in_file = path != ":memory:";
  if (in_file) {
    PENSTOCK_TRY(CheckCommits(path));
    PENSTOCK_TRY(CreateDatabaseFile(path, Schema()));
  }
  PENSTOCK_ASSIGN(auto connection, OpenFurther(path, kWriterCache));
  if (in_file) {
    PENSTOCK_TRY(connection->ReservePageChecksums());
    // NORMAL: a commit is in the page cache, so it survives the process, and the file stays sound
    // if the machine dies.
    PENSTOCK_TRY(connection->Execute(
        std::string("PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864;"
                    "PRAGMA synchronous=") +
        (durability == Durability::kStrict ? "FULL" : "NORMAL")));
  }
  PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(*connection));
  if (version == kSchemaVersion) {
    if (in_file && !connection->HasPageChecksums()) return LostPageChecksums(path);
    return connection;
  }
  PENSTOCK_ASSIGN(const std::int64_t tables,
                  SingleNumber(*connection, "SELECT count(*) FROM sqlite_schema"));
  if (version == 0 && tables > 0) return NotOurs(path);
  if (version > kSchemaVersion) return WrongVersion(path, version);
  if (version == 0) {
    PENSTOCK_TRY(CreateTables(*connection));
    // The tables go to the database file at once: a log that is lost later takes objects with it,
    // not the store.
    if (in_file) PENSTOCK_TRY(connection->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
    return connection;
  }
  // before the version that promises them
  if (in_file) PENSTOCK_TRY(connection->AddPageChecksums());
  PENSTOCK_TRY(AddMigrationFunctions(*connection));
  PENSTOCK_TRY(Migrate(*connection, kMigrations));
  return connection;
}

Result<std::unique_ptr<Connection>> OpenReader(const std::string& path) {
  return OpenFurther(path, (std::string(kReaderCache) + "PRAGMA query_only=1;").c_str());
}

Result<std::unique_ptr<Connection>> OpenCheckpointer(const std::string& path) {
  return OpenFurther(path, kReaderCache);
}

Result<std::unique_ptr<Connection>> OpenForInspection(const std::string& path) {
  // A log is there after a crash. Without one even a read-only connection would make one.
  std::error_code missing;
  const bool has_log = std::filesystem::file_size(path + "-wal", missing) > 0 && !missing;
  const auto access = has_log ? Connection::Access::kReadOnly : Connection::Access::kImmutable;
  PENSTOCK_ASSIGN(auto connection, Connection::Open(path, access));
  PENSTOCK_TRY(connection->Execute(
      "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=0; PRAGMA query_only=1;"));
  PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(*connection));
  if (version == 0) return NoVersion(path);
  if (version != kSchemaVersion) return WrongVersion(path, version);
  if (!connection->HasPageChecksums()) return LostPageChecksums(path);
  return connection;
}

Result<std::int64_t> ReserveNumbers(Connection& connection) {
  Query query(connection, "UPDATE numbers SET next = next + (1 << 40) RETURNING next - (1 << 40)");
  PENSTOCK_ASSIGN(const bool row, query.Step());
  if (!row)
    return Error::Make(ErrorKind::kDataLoss,
                       "the database file " + connection.path() + " lost its numbers");
  const std::int64_t first = query.Int(0);
  PENSTOCK_TRY(query.Run());
  return first;
}

}  // namespace penstock::emulator::store
