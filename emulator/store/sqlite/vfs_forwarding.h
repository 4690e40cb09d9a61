// Base methods for SQLite VFSs that wrap the files of another VFS (sqlite.org/vfs.html). Each
// method forwards the call to the wrapped file. A VFS replaces the methods that it changes.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_VFS_FORWARDING_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_VFS_FORWARDING_H_

#include <sqlite3.h>

#include <cstddef>

namespace penstock::emulator::store {

// The first member of an open file of such a VFS. SQLite allocates the file, with memory for `real`
// after it.
struct ForwardingFile {
  sqlite3_file base;  // what SQLite sees
  sqlite3_file* real;
};

inline sqlite3_file* RealFile(sqlite3_file* file) {
  return reinterpret_cast<ForwardingFile*>(file)->real;
}

// Offset of the real file's memory after an open file of type `File`.
template <class File>
inline constexpr std::size_t kRealFileOffset = (sizeof(File) + 15) / 16 * 16;

// Sets the fields of ForwardingFile. SQLite does not close the file while `base.pMethods` is null.
template <class File>
void InitForwarding(sqlite3_file* file) {
  auto* const forwarding = reinterpret_cast<ForwardingFile*>(file);
  forwarding->base.pMethods = nullptr;
  forwarding->real =
      reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kRealFileOffset<File>);
}

template <auto kMethod, class... Arguments>
int Forward(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* const real = RealFile(file);
  return (real->pMethods->*kMethod)(real, arguments...);
}

inline void ForwardShmBarrier(sqlite3_file* file) {
  RealFile(file)->pMethods->xShmBarrier(RealFile(file));
}

inline constexpr sqlite3_io_methods kForwardingMethods = {
    .iVersion = 3,
    .xClose = Forward<&sqlite3_io_methods::xClose>,
    .xRead = Forward<&sqlite3_io_methods::xRead>,
    .xWrite = Forward<&sqlite3_io_methods::xWrite>,
    .xTruncate = Forward<&sqlite3_io_methods::xTruncate>,
    .xSync = Forward<&sqlite3_io_methods::xSync>,
    .xFileSize = Forward<&sqlite3_io_methods::xFileSize>,
    .xLock = Forward<&sqlite3_io_methods::xLock>,
    .xUnlock = Forward<&sqlite3_io_methods::xUnlock>,
    .xCheckReservedLock = Forward<&sqlite3_io_methods::xCheckReservedLock>,
    .xFileControl = Forward<&sqlite3_io_methods::xFileControl>,
    .xSectorSize = Forward<&sqlite3_io_methods::xSectorSize>,
    .xDeviceCharacteristics = Forward<&sqlite3_io_methods::xDeviceCharacteristics>,
    .xShmMap = Forward<&sqlite3_io_methods::xShmMap>,
    .xShmLock = Forward<&sqlite3_io_methods::xShmLock>,
    .xShmBarrier = ForwardShmBarrier,
    .xShmUnmap = Forward<&sqlite3_io_methods::xShmUnmap>,
    .xFetch = Forward<&sqlite3_io_methods::xFetch>,
    .xUnfetch = Forward<&sqlite3_io_methods::xUnfetch>,
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_VFS_FORWARDING_H_
