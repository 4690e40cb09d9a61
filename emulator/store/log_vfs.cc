// The format of the log: sqlite.org/fileformat2.html §4.1: a header of 32 bytes, then frames of 24 bytes and a page.
// A page has at most 64 KiB.
#include "emulator/store/log_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "base/diagnostics.h"

namespace penstock::emulator::store {
namespace {

constinit DiagnosticEvent not_gathered("store.log_write_not_gathered");  // it is written at once instead

constexpr char kName[] = "penstock";
constexpr int kFrameHeader = 24;
constexpr int kCommitSize = 4;  // where a frame's header has the database's size, if the frame commits; else 0
// With one more frame less than 128 KiB: of a longer write SQLite's own VFS looks at the low 17 bits of the length only.
constexpr std::size_t kMostGathered = 56 << 10;

// An open log. SQLite gives the memory; the system's file stands behind it.
struct LogFile {
  sqlite3_file base;  // first: what SQLite sees
  sqlite3_file* real;
  std::string* gathered;  // contiguous, from `begin` on
  sqlite3_int64 begin;
  sqlite3_int64 end;  // of what was written since the log began anew, gathered or not
  bool commits;  // the last frame gathered is a commit whose page is still to come
};

LogFile& Log(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

int Flush(LogFile& log) {
  log.commits = false;
  if (log.gathered->empty()) return SQLITE_OK;
  const int code =
      log.real->pMethods->xWrite(log.real, log.gathered->data(), static_cast<int>(log.gathered->size()), log.begin);
  log.gathered->clear();
  return code;
}

// Nothing of C++ may pass through SQLite.
bool Gather(LogFile& log, const void* bytes, int size) noexcept {
  try {
    log.gathered->append(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return true;
  } catch (...) {
    not_gathered.Report(CurrentExceptionError());
    return false;
  }
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  LogFile& log = Log(file);
  if (offset == 0) log.end = 0;  // the log's own header: it begins anew
  const bool appends = offset >= log.end;
  log.end = std::max(log.end, offset + size);
  const bool follows = !log.gathered->empty() && offset == log.begin + static_cast<sqlite3_int64>(log.gathered->size());
  const bool is_header = size == kFrameHeader;
  if (!follows) {
    if (const int code = Flush(log); code != SQLITE_OK) return code;
    // Frames behind the end alone are gathered. What corrects an earlier one may come after the frame that commits.
    if (!is_header || !appends) return log.real->pMethods->xWrite(log.real, bytes, size, offset);
    log.begin = offset;
  }
  if (!Gather(log, bytes, size)) {
    if (const int code = Flush(log); code != SQLITE_OK) return code;
    return log.real->pMethods->xWrite(log.real, bytes, size, offset);
  }
  if (is_header) {
    std::uint32_t database_pages = 0;
    std::memcpy(&database_pages, static_cast<const char*>(bytes) + kCommitSize, sizeof(database_pages));
    log.commits = database_pages != 0;
    return SQLITE_OK;
  }
  return log.commits || log.gathered->size() >= kMostGathered ? Flush(log) : SQLITE_OK;
}

int Close(sqlite3_file* file) {
  LogFile& log = Log(file);
  const int flushed = Flush(log);
  const int closed = log.real->pMethods->xClose(log.real);
  delete log.gathered;
  return flushed != SQLITE_OK ? flushed : closed;
}

int Read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  return Log(file).real->pMethods->xRead(Log(file).real, into, size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  return Log(file).real->pMethods->xTruncate(Log(file).real, size);
}

int Sync(sqlite3_file* file, int flags) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  return Log(file).real->pMethods->xSync(Log(file).real, flags);
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  return Log(file).real->pMethods->xFileSize(Log(file).real, size);
}

int Lock(sqlite3_file* file, int level) { return Log(file).real->pMethods->xLock(Log(file).real, level); }
int Unlock(sqlite3_file* file, int level) { return Log(file).real->pMethods->xUnlock(Log(file).real, level); }
int CheckReservedLock(sqlite3_file* file, int* held) {
  return Log(file).real->pMethods->xCheckReservedLock(Log(file).real, held);
}
int FileControl(sqlite3_file* file, int what, void* argument) {
  return Log(file).real->pMethods->xFileControl(Log(file).real, what, argument);
}
int SectorSize(sqlite3_file* file) { return Log(file).real->pMethods->xSectorSize(Log(file).real); }
int DeviceCharacteristics(sqlite3_file* file) {
  return Log(file).real->pMethods->xDeviceCharacteristics(Log(file).real);
}

const sqlite3_io_methods kLogMethods = {
    .iVersion = 1,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
};

// The file behind a LogFile, in the memory that SQLite gives.
constexpr std::size_t kRealOffset = (sizeof(LogFile) + 15) / 16 * 16;

sqlite3_vfs* system_vfs = nullptr;  // set once, before ours is registered

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* opened_as) {
  // Anything but a log is opened as the system does, methods and all.
  if ((flags & SQLITE_OPEN_WAL) == 0) return system_vfs->xOpen(system_vfs, name, file, flags, opened_as);
  LogFile& log = Log(file);
  log.base.pMethods = nullptr;  // tells SQLite not to close it
  log.real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kRealOffset);
  log.begin = 0;
  log.end = 0;
  log.commits = false;
  log.gathered = new (std::nothrow) std::string();
  if (log.gathered == nullptr) return SQLITE_NOMEM;
  const int code = system_vfs->xOpen(system_vfs, name, log.real, flags, opened_as);
  if (code == SQLITE_OK) {
    log.base.pMethods = &kLogMethods;
    return SQLITE_OK;
  }
  if (log.real->pMethods != nullptr) log.real->pMethods->xClose(log.real);
  delete log.gathered;
  return code;
}

const char* Register() {
  system_vfs = sqlite3_vfs_find(nullptr);
  if (system_vfs == nullptr) return nullptr;
  static sqlite3_vfs ours = *system_vfs;  // all but Open is the system's, and its own data with it
  ours.pNext = nullptr;
  ours.zName = kName;
  ours.szOsFile = static_cast<int>(kRealOffset) + system_vfs->szOsFile;
  ours.xOpen = Open;
  return sqlite3_vfs_register(&ours, 0) == SQLITE_OK ? kName : nullptr;
}

}  // namespace

const char* LogVfsName() {
  static const char* const name = Register();
  return name;
}

}  // namespace penstock::emulator::store
