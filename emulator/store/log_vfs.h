// How SQLite writes its write-ahead log: one system call per commit, instead of two per page.
#ifndef PENSTOCK_EMULATOR_STORE_LOG_VFS_H_
#define PENSTOCK_EMULATOR_STORE_LOG_VFS_H_

namespace penstock::emulator::store {

// The name of an SQLite VFS: the system's own, whose log files gather the frames of a transaction and write them when the
// frame that commits it comes; its caller gets the error, if there is one. Readers see a frame only after its commit, so
// nobody misses what is gathered. Null: it could not be made, and the default one does. Thread safety: any thread.
const char* LogVfsName();

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_LOG_VFS_H_
