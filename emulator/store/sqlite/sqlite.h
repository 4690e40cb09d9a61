// A thin C++ interface of SQLite: connections, cached statements and conversion of errors.
// Independent of the tables.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_SQLITE_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_SQLITE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace penstock::emulator::store {

// A database connection. Thread safety: one thread at a time; a transfer to another thread must
// synchronize.
class Connection {
 public:
  enum class Access {
    kReadWrite,
    kReadOnly,
    // Read-only without locks, log or other files; the database must not be open elsewhere.
    kImmutable,
  };
  // Opens `path`; with kReadWrite creates it if needed. ":memory:" is a private database in memory.
  // Until AllowLogRemoval, closing the connection leaves the log as it is.
  static Result<std::unique_ptr<Connection>> Open(const std::string& path,
                                                  Access access = Access::kReadWrite);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Called when the database was opened and read without an error. From then on, closing the last
  // connection moves the log to the database file and deletes it.
  void AllowLogRemoval() noexcept;
  // Runs one or more statements without parameters or rows.
  Result<void> Execute(const std::string& sql);
  // False after SQLite rolled back a transaction on its own (disk full, I/O error).
  bool InTransaction() const;
  // Rolls back the open transaction, if there is one. A failure is reported to the diagnostic log.
  void RollBack() noexcept;
  // Rows inserted, updated and deleted on this connection so far, including changes that were
  // rolled back.
  std::int64_t Changes() const;
  // Moves committed pages from the write-ahead log to the database file, as far as readers allow.
  // Does not wait for other connections.
  Result<void> Checkpoint();
  // The same, and truncates the log to zero bytes if no reader needs it. Does not wait for other
  // connections.
  void TruncateLog() noexcept;
  // Calls `hook` after each commit to the write-ahead log, on the committing thread, with the log's
  // length in pages. Replaces the automatic checkpoint of the committing thread. `hook` must not
  // throw.
  void OnCommit(std::function<void(int log_pages)> hook);
  const std::string& path() const { return path_; }
  // For SQLite features other than statements. Owned by the connection.
  sqlite3* handle() const { return db_; }
  // Whether pages of the database file are verified (page_checksums.h). Always false in memory.
  bool HasPageChecksums() const;
  // Enables checksums for the pages of a new database. Call before the first write.
  Result<void> ReservePageChecksums();
  // Adds checksums to an existing database. Rewrites the file, which takes the time and the
  // disk space of a copy. Must be called outside a transaction. kResourceExhausted if the disk is
  // full.
  Result<void> AddPageChecksums();
  // From now on returns damaged pages instead of an error, for a check of the rest of the database.
  void ReadDamagedPages();
  // Appends the findings of PRAGMA integrity_check, at most 100 lines. An Error means that the
  // check ended early; findings until then are in `problems`.
  Result<void> CheckIntegrity(std::vector<std::string>& problems);
  std::vector<std::uint32_t> DamagedPages() const;
  // The last error of SQLite. kDataLoss: corrupt or not a database; kResourceExhausted:
  // disk full, no memory or no descriptors; otherwise kInternal. The message names the file.
  Error LastError() const;

 private:
  friend class Query;
  Connection(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  // The compiled statement, cached as long as the connection. Null: it cannot be compiled, see
  // LastError.
  sqlite3_stmt* Prepared(const char* sql);
  void Committed(int log_pages);

  sqlite3* db_;
  std::string path_;
  std::function<void(int)> on_commit_;
  // Keyed by address, because statements are string literals.
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// One use of a statement: bind in order, step, read columns. `sql` must be a literal, because its
// address is the key of the cache. Not re-entrant: a connection may have only one Query of the same
// statement at a time.
class Query {
 public:
  Query(Connection& connection, const char* sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // The caller owns the values and must keep them alive until the Query is destroyed or Reset.
  Query& Bind(std::int64_t value);
  Query& BindText(std::string_view value);
  Query& BindBytes(std::string_view value);
  Query& BindNull();

  // True: there is a row. False: done.
  Result<bool> Step();
  // Runs a statement whose rows are ignored.
  Result<void> Run();
  // Prepares the statement for new bindings and steps.
  void Reset();

  // Columns of the current row. Views are valid until the next Step or Reset.
  std::int64_t Int(int column) const;
  std::string_view Bytes(int column) const;
  std::string Text(int column) const { return std::string(Bytes(column)); }
  bool IsNull(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_SQLITE_H_
