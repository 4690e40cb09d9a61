// A thin C++ face of SQLite: connections, cached statements, and its errors as ours. Knows no
// table.
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

// One connection. Thread safety: one thread at a time, with a hand-over that synchronises.
class Connection {
 public:
  enum class Access {
    kReadWrite,
    kReadOnly,
    kImmutable,  // and no lock, no log and no file beside it: for one that nobody has open
  };
  // Opens or, to write, creates `path`; ":memory:" is a private database in RAM.
  static Result<std::unique_ptr<Connection>> Open(const std::string& path,
                                                  Access access = Access::kReadWrite);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs one or more statements without parameters or rows.
  Result<void> Execute(const std::string& sql);
  // False after SQLite rolled a transaction back by itself (disk full, I/O error).
  bool InTransaction() const;
  // Undoes the open transaction, if there is one. A failure goes to the diagnostic log.
  void RollBack() noexcept;
  // Rows inserted, updated and deleted on this connection so far, also by what was undone since.
  std::int64_t Changes() const;
  // Moves committed pages from the write-ahead log into the database file, as far as readers allow.
  // Waits for nobody.
  Result<void> Checkpoint();
  // The same, and truncates the log to nothing where no reader needs it. Waits for nobody.
  void TruncateLog() noexcept;
  // Calls `hook` after each commit to the write-ahead log, on the committing thread, with the log's
  // length in pages. Replaces checkpoints by the committing thread. It must not throw.
  void OnCommit(std::function<void(int log_pages)> hook);
  const std::string& path() const { return path_; }
  // For what SQLite offers beyond statements. Owned by the connection.
  sqlite3* handle() const { return db_; }
  // Whether pages of the database file are verified (page_checksums.h). Always false in RAM.
  bool HasPageChecksums() const;
  // Pages of a new database get checksums. Before anything is written to it.
  Result<void> ReservePageChecksums();
  // The same for a database that has none: its file is written anew, which takes the time and the
  // space of a copy. Outside a transaction. kResourceExhausted when the disk is full.
  Result<void> AddPageChecksums();
  // For a check of what else is there: damaged pages are read as they are from now on. Their
  // numbers, ascending.
  void ReadDamagedPages();
  // What PRAGMA integrity_check complains about, at most 100 lines. An Error: the check ended
  // early, after `problems`.
  Result<void> CheckIntegrity(std::vector<std::string>& problems);
  std::vector<std::uint32_t> DamagedPages() const;
  // What SQLite last complained about. kDataLoss: corrupt or not a database; kResourceExhausted:
  // disk full, no memory, no descriptors; else kInternal. The message names the file.
  Error LastError() const;

 private:
  friend class Query;
  Connection(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  // The compiled statement, kept for the connection's life. Null: it does not compile, see
  // LastError.
  sqlite3_stmt* Prepared(const char* sql);
  void Committed(int log_pages);

  sqlite3* db_;
  std::string path_;
  std::function<void(int)> on_commit_;
  // by address: statements are literals
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// One use of a statement: bind in order, step, read columns. `sql` must be a literal (it is the
// cache's key). Not re-entrant: no second Query of the same statement on the same connection while
// one lives.
class Query {
 public:
  Query(Connection& connection, const char* sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Values stay owned by the caller and must live until the Query is gone or Reset.
  Query& Bind(std::int64_t value);
  Query& BindText(std::string_view value);
  Query& BindBytes(std::string_view value);
  Query& BindNull();

  // True: a row is there. False: done.
  Result<bool> Step();
  // For statements whose rows nobody reads.
  Result<void> Run();
  // Ready to bind and step again.
  void Reset();

  // Columns of the current row. Views live until the next Step or Reset.
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
