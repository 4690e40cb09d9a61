// The format of the log: sqlite.org/fileformat2.html §4.1: a header of 32 bytes, then frames of 24
// bytes and a page. A page has at most 64 KiB.
#include "emulator/store/sqlite/log_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostics.h"
#include "emulator/store/checks/commit_mark.h"
#include "emulator/store/sqlite/vfs_forwarding.h"

namespace penstock::emulator::store {
namespace {

// it is written at once instead
constinit DiagnosticEvent not_gathered("store.log_write_not_gathered");

constexpr char kName[] = "penstock";
constexpr int kFrameHeader = 24;
// where a frame's header has the database's size, if the frame commits; else 0
constexpr int kCommitSize = 4;
constexpr int kSalts = 8;  // where a frame's header has the log's salts
constexpr int kLogHeader = 32;
constexpr std::string_view kLogSuffix = "-wal";
// With one more frame less than 128 KiB: of a longer write SQLite's own VFS looks at the low 17
// bits of the length only.
constexpr std::size_t kMostGathered = 56 << 10;

// What a log file needs besides SQLite's memory.
struct Marking {
  std::string mark_path;
  std::unique_ptr<CommitMark> mark;  // null until the first commit
  // Of the last frame that ended a commit.
  std::uint32_t pages = 0;
  std::uint32_t salt_1 = 0;
  std::uint32_t salt_2 = 0;
  bool is_synced = false;  // nothing was written since the last fsync
};

// An open log. The real file is the system's.
struct LogFile {
  ForwardingFile forwarding;  // first
  std::string* gathered;      // contiguous, from `begin` on
  sqlite3_int64 begin;
  sqlite3_int64 end;  // of what was written since the log began anew, gathered or not
  bool commits;       // the last frame gathered is a commit whose page is still to come
  Marking* marking;
};

LogFile& Log(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

int WriteReal(LogFile& log, const void* bytes, int size, sqlite3_int64 offset) {
  return Forward<&sqlite3_io_methods::xWrite>(&log.forwarding.base, bytes, size, offset);
}

int Flush(LogFile& log) {
  log.commits = false;
  if (log.gathered->empty()) return SQLITE_OK;
  const int code =
      WriteReal(log, log.gathered->data(), static_cast<int>(log.gathered->size()), log.begin);
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

std::uint32_t BigEndian(const void* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return __builtin_bswap32(value);
}

// Before the log loses frames: all of them are in the database file now, which has as many pages as
// the last commit said.
Result<void> RequireNothing(CommitMark& mark) {
  if (mark.state().frames == 0) return Ok();
  CommitState state = mark.state();
  state.frames = 0;
  return mark.Store(std::move(state));
}

int RequireNothing(LogFile& log) noexcept {
  try {
    Marking& marking = *log.marking;
    if (marking.mark == nullptr) {
      auto opened = CommitMark::Open(marking.mark_path);
      if (!opened.ok())
        return opened.error().kind == ErrorKind::kResourceExhausted ? SQLITE_FULL
                                                                    : SQLITE_IOERR_WRITE;
      marking.mark = std::move(opened).value();
    }
    return RequireNothing(*marking.mark).ok() ? SQLITE_OK : SQLITE_IOERR_WRITE;
  } catch (...) {
    return SQLITE_NOMEM;
  }
}

void RememberCommit(Marking& marking, const void* frame_header) {
  const char* const header = static_cast<const char*>(frame_header);
  marking.pages = BigEndian(header + kCommitSize);
  marking.salt_1 = BigEndian(header + kSalts);
  marking.salt_2 = BigEndian(header + kSalts + 4);
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  LogFile& log = Log(file);
  if (offset == 0) {  // the log's own header: it begins anew
    log.end = 0;
    if (const int code = RequireNothing(log); code != SQLITE_OK) return code;
  }
  log.marking->is_synced = false;
  const bool is_header = size == kFrameHeader;
  const bool commits = is_header && BigEndian(static_cast<const char*>(bytes) + kCommitSize) != 0;
  if (commits) RememberCommit(*log.marking, bytes);  // gathered or not
  const bool appends = offset >= log.end;
  log.end = std::max(log.end, offset + size);
  const bool follows = !log.gathered->empty() &&
                       offset == log.begin + static_cast<sqlite3_int64>(log.gathered->size());
  if (!follows) {
    if (const int code = Flush(log); code != SQLITE_OK) return code;
    // Frames behind the end alone are gathered. What corrects an earlier one may come after the
    // frame that commits.
    if (!is_header || !appends) return WriteReal(log, bytes, size, offset);
    log.begin = offset;
  }
  if (!Gather(log, bytes, size)) {
    if (const int code = Flush(log); code != SQLITE_OK) return code;
    return WriteReal(log, bytes, size, offset);
  }
  if (is_header) {
    log.commits = commits;
    return SQLITE_OK;
  }
  return log.commits || log.gathered->size() >= kMostGathered ? Flush(log) : SQLITE_OK;
}

int Close(sqlite3_file* file) {
  LogFile& log = Log(file);
  const int flushed = Flush(log);
  const int closed = Forward<&sqlite3_io_methods::xClose>(file);
  delete log.gathered;
  delete log.marking;
  return flushed != SQLITE_OK ? flushed : closed;
}

int Read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  return Forward<&sqlite3_io_methods::xRead>(file, into, size, offset);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  if (size == 0) {
    if (const int code = RequireNothing(Log(file)); code != SQLITE_OK) return code;
  }
  return Forward<&sqlite3_io_methods::xTruncate>(file, size);
}

int Sync(sqlite3_file* file, int flags) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  const int code = Forward<&sqlite3_io_methods::xSync>(file, flags);
  Log(file).marking->is_synced = code == SQLITE_OK;
  return code;
}

int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  return Forward<&sqlite3_io_methods::xFileSize>(file, size);
}

constexpr sqlite3_io_methods kLogMethods = [] {
  sqlite3_io_methods methods = kForwardingMethods;
  methods.iVersion = 1;  // a log has neither shared memory nor mapped pages
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  methods.xFileSize = FileSize;
  return methods;
}();

sqlite3_vfs* system_vfs = nullptr;  // set once, before ours is registered

// Empty: `name` is no log.
std::string MarkPathOf(const char* name) {
  std::string_view database(name);
  if (!database.ends_with(kLogSuffix)) return {};
  database.remove_suffix(kLogSuffix.size());
  return CommitMarkPath(std::string(database));
}

Marking* NewMarking(const char* name) noexcept {
  try {
    auto marking = std::make_unique<Marking>();
    marking->mark_path = MarkPathOf(name);
    return marking.release();
  } catch (...) {
    return nullptr;
  }
}

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* opened_as) {
  // Anything but a log is opened as the system does, methods and all.
  if ((flags & SQLITE_OPEN_WAL) == 0)
    return system_vfs->xOpen(system_vfs, name, file, flags, opened_as);
  LogFile& log = Log(file);
  InitForwarding<LogFile>(file);
  log.begin = 0;
  log.end = 0;
  log.commits = false;
  log.gathered = new (std::nothrow) std::string();
  log.marking = NewMarking(name);
  if (log.gathered == nullptr || log.marking == nullptr) {
    delete log.gathered;
    delete log.marking;
    return SQLITE_NOMEM;
  }
  const int code = system_vfs->xOpen(system_vfs, name, log.forwarding.real, flags, opened_as);
  if (code == SQLITE_OK) {
    log.forwarding.base.pMethods = &kLogMethods;
    return SQLITE_OK;
  }
  if (RealFile(file)->pMethods != nullptr) Forward<&sqlite3_io_methods::xClose>(file);
  delete log.gathered;
  delete log.marking;
  return code;
}

// Of a log: when the last connection closes, or a database without pages is opened. The mark goes
// to the disk first: otherwise it would miss the log after a power failure.
int Delete(sqlite3_vfs*, const char* name, int sync_directory) {
  try {
    const std::string mark_path = MarkPathOf(name);
    if (!mark_path.empty() && CommitMark::Read(mark_path).has_value()) {
      const auto mark = CommitMark::Open(mark_path);
      if (!mark.ok() || !RequireNothing(**mark).ok() || !(**mark).Sync().ok())
        return SQLITE_IOERR_DELETE;
    }
  } catch (...) {
    return SQLITE_NOMEM;
  }
  return system_vfs->xDelete(system_vfs, name, sync_directory);
}

const char* Register() {
  system_vfs = sqlite3_vfs_find(nullptr);
  if (system_vfs == nullptr) return nullptr;
  static sqlite3_vfs ours = *system_vfs;  // all but Open is the system's, and its own data with it
  ours.pNext = nullptr;
  ours.zName = kName;
  ours.szOsFile = static_cast<int>(kRealFileOffset<LogFile>) + system_vfs->szOsFile;
  ours.xOpen = Open;
  ours.xDelete = Delete;
  return sqlite3_vfs_register(&ours, 0) == SQLITE_OK ? kName : nullptr;
}

// The state of the mark after a commit with these frames; the log's header tells what its frames do
// not.
bool Store(LogFile& log, std::uint32_t frames) {
  static const std::string boot_id = BootId();
  Marking& marking = *log.marking;
  if (marking.mark == nullptr) {
    auto opened = CommitMark::Open(marking.mark_path);
    if (!opened.ok()) return false;
    marking.mark = std::move(opened).value();
  }
  CommitState state = marking.mark->state();
  const bool same_log = state.salt_1 == marking.salt_1 && state.salt_2 == marking.salt_2;
  if (!same_log || state.page_size == 0) {
    std::array<char, kLogHeader> header{};
    const int code =
        Forward<&sqlite3_io_methods::xRead>(&log.forwarding.base, header.data(), kLogHeader, 0);
    if (code != SQLITE_OK) return false;
    state.page_size = BigEndian(&header[8]);
    state.checkpoint_sequence = BigEndian(&header[12]);
  }
  state.salt_1 = marking.salt_1;
  state.salt_2 = marking.salt_2;
  state.frames = frames;
  state.pages = marking.pages;
  state.synced = marking.is_synced ? 1 : 0;
  state.boot_id = boot_id;
  return marking.mark->Store(std::move(state)).ok();
}

}  // namespace

// A mark that cannot be written keeps an earlier state, which requires less.
void NoteCommit(sqlite3* database, int frames) noexcept {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
      file == nullptr)
    return;
  if (file->pMethods != &kLogMethods || Log(file).marking->pages == 0 || frames <= 0) return;
  try {
    static_cast<void>(Store(Log(file), static_cast<std::uint32_t>(frames)));
  } catch (...) {
    return;
  }
}

const char* LogVfsName() {
  static const char* const name = Register();
  return name;
}

}  // namespace penstock::emulator::store
