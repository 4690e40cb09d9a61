#include "emulator/store/sqlite/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/io/descriptor.h"
#include "base/log/diagnostics.h"
#include "emulator/store/sqlite/log_vfs.h"
#include "emulator/store/sqlite/page_checksums.h"

namespace penstock::emulator::store {
namespace {

constinit DiagnosticEvent rollback_failed("store.rollback_failed");
constinit DiagnosticEvent checkpoint_failed("store.checkpoint_failed");

constexpr int kBusyMilliseconds = 10'000;
constexpr int kCheckpointPages = 1000;  // as SQLite's own WAL hook, which this file replaces

// Memory statistics take a global lock per allocation. An initial page cache per connection
// costs memory that most connections never use. The calls have no effect if SQLite is already
// initialized.
void ConfigureOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    static_cast<void>(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0));
    static_cast<void>(sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0));
  });
}

const char* VfsName() {
  const char* const name = PageChecksumVfsName();
  return name != nullptr ? name : LogVfsName();
}

std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    switch (c) {
      case '%': uri += "%25"; break;
      case '?': uri += "%3f"; break;
      case '#': uri += "%23"; break;
      default: uri += c;
    }
  }
  return uri + "?immutable=1";
}

Error MakeError(int code, int system_error, const std::string& path, const std::string& detail) {
  const bool out_of_space =
      system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
  switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error::Make(ErrorKind::kDataLoss,
                         "the database file " + path + " is damaged or not a database (" + detail +
                             "); restore it or start with an empty directory");
    case SQLITE_IOERR:
      if (code != SQLITE_IOERR_DATA) break;
      return Error::Make(
          ErrorKind::kDataLoss,
          "a page of the database file " + path +
              " or of its log is missing or does not match its checksum; stop the emulator and run "
              "fsck, and restore the directory or start with an empty one");
    case SQLITE_FULL:
      return Error::Make(ErrorKind::kResourceExhausted,
                         "no space left for " + path + "; free disk space and try again");
    case SQLITE_NOMEM:
      return Error::Make(ErrorKind::kResourceExhausted, "out of memory in the database " + path);
    default: break;
  }
  if (out_of_space) {
    return Error::Make(ErrorKind::kResourceExhausted, "no space left for " + path + " (" +
                                                          std::strerror(system_error) +
                                                          "); free disk space and try again");
  }
  if (system_error == EMFILE || system_error == ENFILE) {
    return Error::Make(
        ErrorKind::kResourceExhausted,
        "too many open files to open " + path + "; raise the limit of open files (ulimit -n)");
  }
  std::string message = "the database " + path + " failed: " + detail;
  if (system_error != 0) message += std::string(" (") + std::strerror(system_error) + ")";
  return Error::Make(ErrorKind::kInternal, std::move(message));
}

// After a failed read of the log or of its index, SQLite closes a database as if the log had no
// commits.
void KeepLogAtClose(sqlite3* db, bool keep) {
  static_cast<void>(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep ? 1 : 0, nullptr));
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& path, Access access) {
  ConfigureOnce();
  const bool writes = access == Access::kReadWrite;
  const int how =
      writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  const std::string name = access == Access::kImmutable ? ImmutableUri(path) : path;
  // SQLite creates files with mode 0644. The log and its index inherit the database's mode. Only a
  // new file is opened here, because closing another descriptor of a database would release
  // SQLite's locks on it. An existing file of another user keeps its mode.
  if (writes && path != ":memory:" &&
      !Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)))
    static_cast<void>(::chmod(path.c_str(), 0600));
  sqlite3* opened = nullptr;  // set after a failure too, which must also be closed
  const int code = sqlite3_open_v2(name.c_str(), &opened, how | SQLITE_OPEN_NOMUTEX, VfsName());
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> db(opened, &sqlite3_close);
  if (code != SQLITE_OK) {
    return MakeError(code, db == nullptr ? 0 : sqlite3_system_errno(db.get()), path,
                     sqlite3_errstr(code));
  }
  sqlite3_extended_result_codes(db.get(), 1);
  // Connections of one process only conflict at checkpoints, which hold locks briefly.
  sqlite3_busy_timeout(db.get(), kBusyMilliseconds);
  std::unique_ptr<Connection> connection(new Connection(db.get(), path));
  static_cast<void>(db.release());  // the connection closes it
  if (writes) {
    KeepLogAtClose(connection->db_, true);
    const auto committed = [](void* self, sqlite3*, const char*, int log_pages) {
      static_cast<Connection*>(self)->Committed(log_pages);
      return SQLITE_OK;
    };
    sqlite3_wal_hook(connection->db_, committed, connection.get());
  }
  return connection;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

void Connection::AllowLogRemoval() noexcept { KeepLogAtClose(db_, false); }

Result<void> Connection::Execute(const std::string& sql) {
  errno = 0;
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return LastError();
  return Ok();
}

bool Connection::InTransaction() const { return sqlite3_get_autocommit(db_) == 0; }

void Connection::RollBack() noexcept {
  if (!InTransaction() || sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK)
    return;
  rollback_failed.Report(sqlite3_errmsg(db_));
}

std::int64_t Connection::Changes() const { return sqlite3_total_changes64(db_); }

Result<void> Connection::Checkpoint() {
  errno = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  // Busy: another connection runs a checkpoint.
  if (code == SQLITE_OK || code == SQLITE_BUSY) return Ok();
  return LastError();
}

void Connection::TruncateLog() noexcept {
  sqlite3_busy_timeout(db_, 0);
  sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(db_, kBusyMilliseconds);
}

bool Connection::HasPageChecksums() const { return store::HasPageChecksums(db_); }

Result<void> Connection::ReservePageChecksums() {
  int reserved = kPageChecksumBytes;
  if (sqlite3_file_control(db_, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved) != SQLITE_OK)
    return LastError();
  return Ok();
}

Result<void> Connection::AddPageChecksums() {
  if (HasPageChecksums()) return Ok();
  PENSTOCK_TRY(ReservePageChecksums());
  // VACUUM writes every page to the log; a page gets its checksum when the checkpoint writes it to
  // the file. The copy is as large as the database, so it is made in a file and not in memory.
  PENSTOCK_TRY(Execute(
      "PRAGMA temp_store=FILE; VACUUM; PRAGMA temp_store=MEMORY; PRAGMA wal_checkpoint(TRUNCATE)"));
  if (HasPageChecksums()) return Ok();
  return Error::Make(ErrorKind::kInternal,
                     "cannot add checksums to the pages of the database file " + path_);
}

void Connection::ReadDamagedPages() { store::ReadDamagedPages(db_); }

std::vector<std::uint32_t> Connection::DamagedPages() const { return store::DamagedPages(db_); }

Result<void> Connection::CheckIntegrity(std::vector<std::string>& problems) {
  Query query(*this, "PRAGMA integrity_check(100)");
  for (;;) {
    PENSTOCK_ASSIGN(const bool row, query.Step());
    if (!row) return Ok();
    if (query.Bytes(0) != "ok") problems.push_back(query.Text(0));
  }
}

void Connection::OnCommit(std::function<void(int log_pages)> hook) { on_commit_ = std::move(hook); }

void Connection::Committed(int log_pages) {
  RecordCommit(db_, log_pages);
  if (on_commit_) {
    on_commit_(log_pages);
  } else if (log_pages >= kCheckpointPages) {
    // A failure leaves the log unchanged, and the next commit tries again.
    const Result<void> done = Checkpoint();
    if (!done.ok()) checkpoint_failed.Report(done.error());
  }
}

Error Connection::LastError() const {
  const int errno_now = errno;
  const int code = sqlite3_extended_errcode(db_);
  // The system's error number is valid only if this failure came from the system. A failing commit
  // does not record it; errno, which is cleared before each call, still has it.
  const bool from_system = (code & 0xFF) == SQLITE_IOERR || (code & 0xFF) == SQLITE_CANTOPEN;
  const int recorded = sqlite3_system_errno(db_);
  const int system_error = !from_system ? 0 : recorded != 0 ? recorded : errno_now;
  return MakeError(code, system_error, path_, sqlite3_errmsg(db_));
}

sqlite3_stmt* Connection::Prepared(const char* sql) {
  const auto [found, fresh] = statements_.try_emplace(sql, nullptr);
  if (found->second == nullptr) {
    sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &found->second, nullptr);
  }
  return found->second;
}

Query::Query(Connection& connection, const char* sql)
    : connection_(connection), statement_(connection.Prepared(sql)) {
  PENSTOCK_CHECK(statement_ == nullptr || !sqlite3_stmt_busy(statement_));
}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::Bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Query& Query::BindText(std::string_view value) {
  sqlite3_bind_text64(statement_, ++bound_, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Query& Query::BindBytes(std::string_view value) {
  sqlite3_bind_blob64(statement_, ++bound_, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_STATIC);
  return *this;
}

Query& Query::BindNull() {
  sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

Result<bool> Query::Step() {
  if (statement_ == nullptr) return connection_.LastError();
  errno = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_.LastError();
}

Result<void> Query::Run() {
  PENSTOCK_TRY(Step());
  Reset();
  return Ok();
}

void Query::Reset() {
  bound_ = 0;
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

std::int64_t Query::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Query::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

bool Query::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

}  // namespace penstock::emulator::store
