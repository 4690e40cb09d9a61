// How SQLite writes its write-ahead log: one system call per commit, instead of two per page.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_LOG_VFS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_LOG_VFS_H_

struct sqlite3;

namespace penstock::emulator::store {

// The name of an SQLite VFS: the system's own, whose log files gather the frames of a transaction
// and write them when the frame that commits it comes; its caller gets the error, if there is one.
// Readers see a frame only after its commit, so nobody misses what is gathered. Null: it could not
// be made, and the default one does. Thread safety: any thread.
const char* LogVfsName();

// Records in the commit mark of the connection's main database (commit_mark.h) that its log has
// `frames` committed frames. For SQLite's WAL hook, which runs after the commit, in strict mode
// after the fsync. The VFS itself has the mark require nothing of the log before the log begins
// anew, is truncated or is deleted. Does nothing for databases of another VFS.
void NoteCommit(sqlite3* database, int frames) noexcept;

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_LOG_VFS_H_
