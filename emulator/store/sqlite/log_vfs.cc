#include "emulator/store/sqlite/log_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/store/sqlite/callback_exceptions.h"
#include "emulator/store/sqlite/commit_mark.h"
#include "emulator/store/sqlite/log_checksums.h"
#include "emulator/store/sqlite/shared_by_path.h"
#include "emulator/store/sqlite/vfs_forwarding.h"
#include "emulator/store/system/held_directory.h"

namespace penstock::emulator::store {
namespace {

// The frames are written at once instead.
constinit DiagnosticEvent not_buffered("store.log_write_not_gathered");
// The mark keeps an earlier state, so that a loss of the newest commits may stay undetected.
constinit DiagnosticEvent not_marked("store.commit_mark_not_written");

constexpr char kName[] = "penstock";
// Offset in a frame header of the database size in pages; 0: the frame does not end a commit.
constexpr int kCommitSize = 4;
constexpr int kSalts = 8;  // offset of the log's salts in a frame header
constexpr std::string_view kLogSuffix = "-wal";
// With one more frame this is less than 128 KiB. For longer writes SQLite's own VFS uses only the
// low 17 bits of the length.
constexpr std::size_t kMaxBuffered = 56 << 10;

// State of a log file outside SQLite's memory.
struct Marking {
  std::string mark_path;
  std::unique_ptr<CommitMark> mark;  // null until the first commit
  // Fields of the last frame that ended a commit.
  std::uint32_t pages = 0;
  std::uint32_t salt_1 = 0;
  std::uint32_t salt_2 = 0;
  bool is_synced = false;  // no write since the last fsync
  std::shared_ptr<LogChecksums> checksums;
};

// An open log. The real file belongs to the system's VFS.
struct LogFile {
  ForwardingFile forwarding;  // must be first
  std::string* buffered;      // contiguous frames, from offset `begin`
  sqlite3_int64 begin;
  sqlite3_int64 end;  // end of the writes since the log restarted, buffered or not
  bool commits;       // the last buffered frame header is a commit whose page follows
  Marking* marking;
};

LogFile& Log(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

LogChecksums& Checksums(const LogFile& log) { return *log.marking->checksums; }

int ReadReal(LogFile& log, void* into, int size, sqlite3_int64 offset) {
  return Forward<&sqlite3_io_methods::xRead>(&log.forwarding.base, into, size, offset);
}

// After a failed write it is unknown which bytes the file has. They belong to no commit.
int WriteReal(LogFile& log, const void* bytes, int size, sqlite3_int64 offset) {
  const int code = Forward<&sqlite3_io_methods::xWrite>(&log.forwarding.base, bytes, size, offset);
  if (code != SQLITE_OK) Checksums(log).Forget(offset, offset + size);
  return code;
}

int Flush(LogFile& log) {
  log.commits = false;
  if (log.buffered->empty()) return SQLITE_OK;
  const int code =
      WriteReal(log, log.buffered->data(), static_cast<int>(log.buffered->size()), log.begin);
  log.buffered->clear();
  return code;
}

// C++ exceptions must not pass through SQLite.
bool Buffer(LogFile& log, const void* bytes, int size) noexcept {
  try {
    log.buffered->append(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return true;
  } catch (...) {
    not_buffered.Report(CurrentExceptionError());
    return false;
  }
}

std::uint32_t BigEndian(const void* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return __builtin_bswap32(value);
}

// Called before the log loses frames. All of them are then in the database file, which has as many
// pages as the last commit recorded.
Result<void> ResetMark(CommitMark& mark) {
  if (mark.state().frames == 0 && mark.state().closed == 0) return Ok();
  CommitState state = mark.state();
  const bool begins = state.closed != 0;
  state.frames = 0;
  state.closed = 0;
  PENSTOCK_TRY(mark.Store(std::move(state)));
  // After a power failure, "closed" beside the commits of the next log would refuse them.
  return begins ? mark.Sync() : Ok();
}

// Called before the last connection deletes the log.
Result<void> CloseMark(CommitMark& mark) {
  CommitState state = mark.state();
  state.closed = CommitState::kClosed + state.frames;
  state.frames = 0;
  PENSTOCK_TRY(mark.Store(std::move(state)));
  return mark.Sync();
}

int ResetMark(LogFile& log) noexcept {
  try {
    Marking& marking = *log.marking;
    if (marking.mark == nullptr) {
      auto opened = CommitMark::Open(marking.mark_path);
      if (!opened.ok()) {
        not_marked.Report(opened.error());
        return opened.error().kind == ErrorKind::kResourceExhausted ? SQLITE_FULL
                                                                    : SQLITE_IOERR_WRITE;
      }
      marking.mark = std::move(opened).value();
    }
    const Result<void> reset = ResetMark(*marking.mark);
    if (!reset.ok()) not_marked.Report(reset.error());
    return reset.ok() ? SQLITE_OK : SQLITE_IOERR_WRITE;
  } catch (...) {
    return RanOutOfMemory("a restart of the log") ? SQLITE_NOMEM : SQLITE_IOERR;
  }
}

void SaveCommit(Marking& marking, const void* frame_header) {
  const char* const header = static_cast<const char*>(frame_header);
  marking.pages = BigEndian(header + kCommitSize);
  marking.salt_1 = BigEndian(header + kSalts);
  marking.salt_2 = BigEndian(header + kSalts + 4);
}

int BufferOrWrite(LogFile& log, const void* bytes, int size, sqlite3_int64 offset) {
  log.marking->is_synced = false;
  const bool is_header = size == kFrameHeaderBytes;
  const bool commits = is_header && BigEndian(static_cast<const char*>(bytes) + kCommitSize) != 0;
  if (commits) SaveCommit(*log.marking, bytes);  // buffered or not
  const bool appends = offset >= log.end;
  log.end = std::max(log.end, offset + size);
  const bool follows = !log.buffered->empty() &&
                       offset == log.begin + static_cast<sqlite3_int64>(log.buffered->size());
  if (!follows) {
    if (const int code = Flush(log); code != SQLITE_OK) return code;
    // Only frames after the end are buffered. A correction of an earlier frame can follow
    // the commit frame.
    if (!is_header || !appends) return WriteReal(log, bytes, size, offset);
    log.begin = offset;
  }
  if (!Buffer(log, bytes, size)) {
    if (const int code = Flush(log); code != SQLITE_OK) return code;
    return WriteReal(log, bytes, size, offset);
  }
  if (is_header) {
    log.commits = commits;
    return SQLITE_OK;
  }
  return log.commits || log.buffered->size() >= kMaxBuffered ? Flush(log) : SQLITE_OK;
}

// Stores the checksums of bytes that are being written. A part that is not written as a whole has
// no checksum until it is read as a whole.
int StoreChecksums(LogChecksums& checksums, const std::byte* bytes, int size,
                   sqlite3_int64 offset) {
  const sqlite3_int64 end = offset + size;
  while (offset < end && (offset < kLogHeaderBytes || checksums.page_size() != 0)) {
    const LogPart part = checksums.PartAt(offset);
    const sqlite3_int64 part_end = part.begin + part.size;
    if (offset != part.begin || part_end > end) {
      checksums.Forget(part.begin, part_end);
    } else if (!checksums.Set(part, bytes)) {
      return SQLITE_IOERR_NOMEM;
    }
    bytes += part_end - offset;
    offset = part_end;
  }
  return SQLITE_OK;
}

// The log's header is written: the log restarts.
int Restart(LogFile& log, const void* bytes, int size) {
  log.end = 0;
  if (const int code = ResetMark(log); code != SQLITE_OK) return code;
  if (size >= kLogHeaderBytes) Checksums(log).Restart(static_cast<const std::byte*>(bytes));
  return SQLITE_OK;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  LogFile& log = Log(file);
  int code = SQLITE_OK;
  if (offset == 0) {
    code = Restart(log, bytes, size);
  } else if (Checksums(log).is_damaged()) {
    code = SQLITE_IOERR_DATA;
  }
  if (code == SQLITE_OK)
    code = StoreChecksums(Checksums(log), static_cast<const std::byte*>(bytes), size, offset);
  return code == SQLITE_OK ? BufferOrWrite(log, bytes, size, offset) : code;
}
int Close(sqlite3_file* file) {
  LogFile& log = Log(file);
  const int flushed = Flush(log);
  const int closed = Forward<&sqlite3_io_methods::xClose>(file);
  delete log.buffered;
  delete log.marking;
  return flushed != SQLITE_OK ? flushed : closed;
}

// Verifies a whole part that a read with the result `code` returned. The file must contain every
// part with a checksum, also one of zeros. A part without a checksum gets one: SQLite's recovery
// reads it at the start and then verifies the same bytes itself.
int VerifyPart(LogChecksums& checksums, const LogPart& part, const std::byte* bytes, int code) {
  const LogChecksums::Verdict verdict = checksums.Check(part, bytes);
  if (verdict == LogChecksums::Verdict::kUnknown) {
    if (code != SQLITE_OK) return code;
    if (part.frame == 0) checksums.AdoptHeader(bytes);
    return checksums.Set(part, bytes) ? SQLITE_OK : SQLITE_IOERR_NOMEM;
  }
  if (verdict == LogChecksums::Verdict::kMatches && code == SQLITE_OK) return SQLITE_OK;
  checksums.AddDamage(part);
  return SQLITE_IOERR_DATA;
}

// Verifies the part that contains `size` bytes which were read at `offset`, and reads them again
// with the rest of the part.
int VerifyRestOfPart(LogFile& log, const LogPart& part, std::byte* bytes, int size,
                     sqlite3_int64 offset) {
  const std::unique_ptr<std::byte[]> whole(new (std::nothrow)
                                               std::byte[static_cast<std::size_t>(part.size)]);
  if (whole == nullptr) return SQLITE_IOERR_NOMEM;
  int code = ReadReal(log, whole.get(), part.size, part.begin);
  if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ)
    code = VerifyPart(Checksums(log), part, whole.get(), code);
  if (code == SQLITE_OK)
    std::memcpy(bytes, whole.get() + (offset - part.begin), static_cast<std::size_t>(size));
  return code;
}

int Read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  LogFile& log = Log(file);
  if (const int code = Flush(log); code != SQLITE_OK) return code;
  int code = ReadReal(log, into, size, offset);
  LogChecksums& checksums = Checksums(log);
  auto* bytes = static_cast<std::byte*>(into);
  for (const sqlite3_int64 end = offset + size; offset < end;) {
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    if (offset >= kLogHeaderBytes && checksums.page_size() == 0) return code;
    const LogPart part = checksums.PartAt(offset);
    const auto count =
        static_cast<int>(std::min<sqlite3_int64>(part.begin + part.size, end) - offset);
    code = count == part.size ? VerifyPart(checksums, part, bytes, code)
                              : VerifyRestOfPart(log, part, bytes, count, offset);
    bytes += count;
    offset += count;
  }
  return code;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  if (size == 0) {
    if (const int code = ResetMark(Log(file)); code != SQLITE_OK) return code;
  }
  const int code = Forward<&sqlite3_io_methods::xTruncate>(file, size);
  if (code == SQLITE_OK) Checksums(Log(file)).Truncate(size);
  return code;
}

// A checkpoint syncs the log before it moves pages. If it moved pages that follow a damaged frame,
// the database file would contain a part of commits that the next start cannot recover.
int Sync(sqlite3_file* file, int flags) {
  if (const int code = Flush(Log(file)); code != SQLITE_OK) return code;
  if (Checksums(Log(file)).is_damaged()) return SQLITE_IOERR_DATA;
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
  methods.iVersion = 1;  // a log has no shared memory and no mapped pages
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  methods.xFileSize = FileSize;
  return methods;
}();

sqlite3_vfs* system_vfs = nullptr;  // set once, before this VFS is registered

// Empty: `name` is not a log.
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
    marking->checksums = SharedByPath<LogChecksums>(name);
    return marking.release();
  } catch (...) {
    static_cast<void>(RanOutOfMemory("opening a log"));
    return nullptr;
  }
}

// If another process has the database open, SQLite does not recover the log, and does not read its
// header.
void AdoptHeader(LogFile& log) {
  std::byte header[kLogHeaderBytes];
  if (Checksums(log).page_size() == 0 && ReadReal(log, header, kLogHeaderBytes, 0) == SQLITE_OK)
    Checksums(log).AdoptHeader(header);
}

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* opened_as) {
  // Other files are opened by the system's VFS and use its methods.
  if ((flags & SQLITE_OPEN_WAL) == 0)
    return system_vfs->xOpen(system_vfs, name, file, flags, opened_as);
  LogFile& log = Log(file);
  InitForwarding<LogFile>(file);
  log.begin = 0;
  log.end = 0;
  log.commits = false;
  log.buffered = new (std::nothrow) std::string();
  log.marking = NewMarking(name);
  if (log.buffered == nullptr || log.marking == nullptr) {
    delete log.buffered;
    delete log.marking;
    return SQLITE_NOMEM;
  }
  const int code = system_vfs->xOpen(system_vfs, name, log.forwarding.real, flags, opened_as);
  if (code == SQLITE_OK) {
    log.forwarding.base.pMethods = &kLogMethods;
    AdoptHeader(log);
    return SQLITE_OK;
  }
  if (RealFile(file)->pMethods != nullptr) Forward<&sqlite3_io_methods::xClose>(file);
  delete log.buffered;
  delete log.marking;
  return code;
}

Result<void> CloseMarkOf(const char* name) {
  const std::string mark_path = MarkPathOf(name);
  // Not read: a mark that cannot be read now may require the log.
  if (mark_path.empty() || !std::filesystem::exists(mark_path)) return Ok();
  PENSTOCK_ASSIGN(const auto mark, CommitMark::Open(mark_path));
  return CloseMark(*mark);
}

// Deletes a log when the last connection closes or a database without pages is opened. The mark is
// written to disk first; otherwise it would require the deleted log after a power failure.
int Delete(sqlite3_vfs*, const char* name, int sync_directory) {
  try {
    if (const Result<void> closed = CloseMarkOf(name); !closed.ok()) {
      not_marked.Report(closed.error());
      return SQLITE_IOERR_DELETE;
    }
  } catch (...) {
    return RanOutOfMemory("the deletion of a log") ? SQLITE_NOMEM : SQLITE_IOERR;
  }
  return system_vfs->xDelete(system_vfs, name, sync_directory);
}

// SQLite resolves symbolic links. The path of a held directory would become the one that it had
// when the file was opened.
int FullPathname(sqlite3_vfs*, const char* name, int size, char* full) {
  if (!HeldDirectory::IsHeldPath(name))
    return system_vfs->xFullPathname(system_vfs, name, size, full);
  const std::size_t length = std::strlen(name) + 1;
  if (length > static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::memcpy(full, name, length);
  return SQLITE_OK;
}

const char* Register() {
  system_vfs = sqlite3_vfs_find(nullptr);
  if (system_vfs == nullptr) return nullptr;
  static sqlite3_vfs vfs = *system_vfs;  // a copy of the system's VFS, including its data
  vfs.pNext = nullptr;
  vfs.zName = kName;
  vfs.szOsFile = static_cast<int>(kRealFileOffset<LogFile>) + system_vfs->szOsFile;
  vfs.xOpen = Open;
  vfs.xDelete = Delete;
  vfs.xFullPathname = FullPathname;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? kName : nullptr;
}

// Stores the state of the mark after a commit with `frames` frames.
Result<void> Store(LogFile& log, std::uint32_t frames) {
  static const std::string boot_id = BootId();
  Marking& marking = *log.marking;
  if (marking.mark == nullptr) {
    PENSTOCK_ASSIGN(marking.mark, CommitMark::Open(marking.mark_path));
  }
  CommitState state = marking.mark->state();
  state.page_size = static_cast<std::uint32_t>(marking.checksums->page_size());
  state.checkpoint_sequence = marking.checksums->checkpoint_sequence();
  state.salt_1 = marking.salt_1;
  state.salt_2 = marking.salt_2;
  state.frames = frames;
  state.pages = marking.pages;
  state.synced = marking.is_synced ? 1 : 0;
  state.boot_id = boot_id;
  state.closed = 0;
  return marking.mark->Store(std::move(state));
}

}  // namespace

// If the mark cannot be written, it keeps an earlier state, which requires less.
void RecordCommit(sqlite3* database, int frames) noexcept {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK ||
      file == nullptr)
    return;
  if (file->pMethods != &kLogMethods || Log(file).marking->pages == 0 || frames <= 0) return;
  try {
    const Result<void> stored = Store(Log(file), static_cast<std::uint32_t>(frames));
    if (!stored.ok()) not_marked.Report(stored.error());
  } catch (...) {
    not_marked.Report(CurrentExceptionError());
  }
}

const char* LogVfsName() {
  static const char* const name = Register();
  return name;
}

}  // namespace penstock::emulator::store
