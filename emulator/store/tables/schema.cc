#include "emulator/store/tables/schema.h"

#include <array>

#include "emulator/store/sqlite/commit_check.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/sqlite/migrations.h"
#include "emulator/store/system/descriptor.h"
#include "emulator/store/tables/migration_functions.h"

namespace penstock::emulator::store {
namespace {

// `current` contains the keys whose latest version is an object. `versions` contains everything
// else: superseded versions and all delete markers. A listing of objects therefore never steps over
// versions or markers, and a key that is only in `versions` is hidden by a delete marker, its first
// row there. newest_first is the negated sequence number of the write.
//
// Large columns come last, because SQLite reads a row's overflow pages only up to the last
// requested column.
//
// Messages about changes (event_rows.h). Numbers are not used again. `delivered`: 1 if a sink has
// acknowledged it.
#define EVENTS_TABLE                                                                     \
  "CREATE TABLE events(number INTEGER PRIMARY KEY AUTOINCREMENT, delivered INTEGER NOT " \
  "NULL DEFAULT 0, destination BLOB NOT NULL, message BLOB NOT NULL);"

// The table of completed renames, keyed by the idempotency token of the request (renaming.cc).
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
)sql" RENAMED_TABLE EVENTS_TABLE;

// Migrations from each version to the next. kTables above always creates the newest version.
constexpr std::array<Migration, kSchemaVersion - 1> kMigrations{{
    // Results of completed uploads are stored without their content, because its references were
    // not counted.
    {2, "ALTER TABLE completed DROP COLUMN content"},
    // For directory buckets: idempotency tokens of renames.
    {3, RENAMED_TABLE},
    // Block checksums (block_checksums.h); older blobs have none until the scrubber
    // has read them. Also moves fields of uploads and parts out of attributes and checksum texts
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
    // New databases have a store id (page_checksums.h), which earlier builds do not know.
    {5, ""},
    {6, EVENTS_TABLE},
}};

// mmap halves the cost of a point read and leaves little work to the page cache.
// The writer does not use it: its cache stays valid because no other connection writes, and with
// mmap SQLite would search the log for every page before the cache.
constexpr char kCommonSettings[] = "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=0;";
constexpr char kWriterCache[] = "PRAGMA cache_size=-8192;";  // KiB
// Each commit returns free pages to the system (row_memory.h).
constexpr char kMemorySettings[] = "PRAGMA auto_vacuum=FULL;";
constexpr char kReaderCache[] = "PRAGMA mmap_size=1073741824; PRAGMA cache_size=-1024;";

Result<std::int64_t> QueryNumber(Connection& connection, const char* sql) {
  Query query(connection, sql);
  PENSTOCK_ASSIGN(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

std::string Schema() {
  return std::string(kTables) + "PRAGMA user_version=" + std::to_string(kSchemaVersion);
}

// Used in memory, and for a file that an earlier build left without tables when it was killed.
Result<void> CreateTables(Connection& connection) {
  return connection.Execute("BEGIN;" + Schema() + ";COMMIT");
}

Error MissingVersionError(const std::string& path) {
  return Error::Make(ErrorKind::kDataLoss,
                     "the database file " + path +
                         " has no schema version: it is damaged, or another program created it");
}

Result<std::unique_ptr<Connection>> OpenConnection(const std::string& path, const char* settings) {
  PENSTOCK_ASSIGN(auto connection, Connection::Open(path));
  PENSTOCK_TRY(connection->Execute(std::string(kCommonSettings) + settings));
  return connection;
}

// For a database that is open already.
Result<std::unique_ptr<Connection>> OpenAnother(const std::string& path, const char* settings) {
  PENSTOCK_ASSIGN(auto connection, OpenConnection(path, settings));
  connection->AllowLogRemoval();
  return connection;
}

// Opens a connection that changes nothing, to a database that no other process has open.
Result<std::unique_ptr<Connection>> OpenUnchanged(const std::string& path) {
  // There is a log only after a crash. Without one, even a read-only connection would create it.
  PENSTOCK_ASSIGN(const std::uint64_t log_size, FileSize(path + "-wal"));
  const auto access = log_size > 0 ? Connection::Access::kReadOnly : Connection::Access::kImmutable;
  PENSTOCK_ASSIGN(auto connection, Connection::Open(path, access));
  PENSTOCK_TRY(connection->Execute(
      "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=0; PRAGMA query_only=1;"));
  return connection;
}

Result<std::unique_ptr<Connection>> OpenOrMigrate(const std::string& path, Durability durability) {
  const bool in_file = path != ":memory:";
  if (in_file) {
    PENSTOCK_TRY(CheckCommits(path));
    PENSTOCK_TRY(CreateDatabaseFile(path, Schema()));
  }
  PENSTOCK_ASSIGN(auto connection, OpenConnection(path, in_file ? kWriterCache : kMemorySettings));
  if (in_file) {
    PENSTOCK_TRY(connection->ReservePageChecksums());
    // NORMAL: a commit is in the page cache, so it survives the process, and the file stays
    // consistent after a power failure.
    PENSTOCK_TRY(connection->Execute(
        std::string("PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864;"
                    "PRAGMA synchronous=") +
        (durability == Durability::kStrict ? "FULL" : "NORMAL")));
  }
  PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(*connection));
  if (version == kSchemaVersion) {
    if (in_file && !connection->HasPageChecksums()) return MissingPageChecksums(path);
    return connection;
  }
  PENSTOCK_ASSIGN(const std::int64_t tables,
                  QueryNumber(*connection, "SELECT count(*) FROM sqlite_schema"));
  if (version == 0 && tables > 0) return ForeignDatabase(path);
  if (version > kSchemaVersion) return WrongSchemaVersion(path, version, kSchemaVersion);
  if (version == 0) {
    PENSTOCK_TRY(CreateTables(*connection));
    // The tables are moved to the database file at once: if the log is lost later, only objects are
    // lost, not the store.
    if (in_file) PENSTOCK_TRY(connection->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
    return connection;
  }
  // Must precede the version that requires checksums.
  if (in_file) PENSTOCK_TRY(connection->AddPageChecksums());
  PENSTOCK_TRY(AddMigrationFunctions(*connection));
  PENSTOCK_TRY(Migrate(*connection, kMigrations));
  return connection;
}

}  // namespace

Result<std::unique_ptr<Connection>> OpenDatabase(const std::string& path, Durability durability) {
  PENSTOCK_ASSIGN(auto connection, OpenOrMigrate(path, durability));
  connection->AllowLogRemoval();
  return connection;
}

Result<void> UpgradeDatabase(const std::string& path) {
  PENSTOCK_TRY(CheckCommits(path));  // without them, an older version would be read
  {
    PENSTOCK_ASSIGN(const auto connection, OpenUnchanged(path));
    PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(*connection));
    if (version == 0) return MissingVersionError(path);
    if (version >= kSchemaVersion) return Ok();
  }
  PENSTOCK_TRY(OpenDatabase(path, Durability::kStrict));
  return Ok();
}

Result<std::unique_ptr<Connection>> OpenReader(const std::string& path) {
  return OpenAnother(path, (std::string(kReaderCache) + "PRAGMA query_only=1;").c_str());
}

Result<std::unique_ptr<Connection>> OpenCheckpointer(const std::string& path) {
  return OpenAnother(path, kReaderCache);
}

Result<std::unique_ptr<Connection>> OpenForInspection(const std::string& path) {
  PENSTOCK_ASSIGN(auto connection, OpenUnchanged(path));
  PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(*connection));
  if (version == 0) return MissingVersionError(path);
  if (version != kSchemaVersion) return WrongSchemaVersion(path, version, kSchemaVersion);
  if (!connection->HasPageChecksums()) return MissingPageChecksums(path);
  return connection;
}

Result<std::int64_t> ReserveNumbers(Connection& connection) {
  Query query(connection, "UPDATE numbers SET next = next + (1 << 40) RETURNING next - (1 << 40)");
  PENSTOCK_ASSIGN(const bool row, query.Step());
  if (!row)
    return Error::Make(ErrorKind::kDataLoss,
                       "the database file " + connection.path() +
                           " is damaged: the table of numbers is empty; restore the file");
  const std::int64_t first = query.Int(0);
  PENSTOCK_TRY(query.Run());
  return first;
}

}  // namespace penstock::emulator::store
