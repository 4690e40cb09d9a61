// Writes SQLite's write-ahead log with one system call per commit instead of two per page, and
// verifies what is read from it.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_LOG_VFS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_LOG_VFS_H_

struct sqlite3;

namespace penstock::emulator::store {

// The name of an SQLite VFS based on the system's VFS. Its log files buffer the frames of a
// transaction and write them with the commit frame, whose writer gets any error. Readers see a
// frame only after its commit, so buffering does not delay them. Reading a part of the log that
// changed on disk while this process has the database open fails with SQLITE_IOERR_DATA
// (log_checksums.h); from then on, frames are not appended and checkpoints fail. Null: the VFS
// could not be registered; use the default VFS. Thread safety: any thread.
const char* LogVfsName();

// Records in the commit mark of the connection's main database (commit_mark.h) that its log has
// `frames` committed frames. Called by SQLite's WAL hook after the commit, in strict mode
// after the fsync. Before the log restarts, is truncated or is deleted, the VFS itself resets the
// mark so that it requires no frames. Does nothing for databases of another VFS.
void RecordCommit(sqlite3* database, int frames) noexcept;

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_LOG_VFS_H_
