#include "emulator/store/page_checksums.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/crc.h"
#include "base/log.h"
#include "emulator/store/log_vfs.h"
#include "emulator/store/page_bits.h"
#include "penstock/base/bytes.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {
namespace {

constexpr char kName[] = "penstock-pages";
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kHeaderBytes = 100;      // of a database, at the begin of its first page
constexpr int kReservedAt = 20;        // where the header has the number of reserved bytes
constexpr int kSmallestPage = 512;
constexpr int kLargestPage = 64 << 10;
// File controls of this VFS; SQLite leaves numbers above 100 to applications.
constexpr int kGetState = 0x50530001;
constexpr int kReadDamaged = 0x50530002;

// What the connections of this process to one database file share.
class DatabasePages {
 public:
  explicit DatabasePages(std::string path) : path_(std::move(path)) {}

  std::atomic<bool> has_checksums{false};
  PageBits verified;

  // The file and the page are logged once.
  void AddDamaged(std::uint32_t page, sqlite3_int64 offset) {
    {
      const MutexLock lock(mutex_);
      const auto at = std::lower_bound(damaged_.begin(), damaged_.end(), page);
      if (at != damaged_.end() && *at == page) return;
      damaged_.insert(at, page);
    }
    penstock::Log({LogLevel::kError,
                   "database.page_damaged",
                   {{"file", path_}, {"page", LogValue::Number(std::to_string(page))},
                    {"offset", LogValue::Number(std::to_string(offset))}}});
  }
  std::vector<std::uint32_t> damaged() const {
    const MutexLock lock(mutex_);
    return damaged_;
  }

 private:
  const std::string path_;
  mutable Mutex mutex_;
  std::vector<std::uint32_t> damaged_ PENSTOCK_GUARDED_BY(mutex_);
};

std::shared_ptr<DatabasePages> PagesOf(const char* path) {
  static Mutex* const mutex = new Mutex();  // never destroyed: connections may close at the process's end
  static auto* const open = new std::map<std::string, std::weak_ptr<DatabasePages>>();
  const MutexLock lock(*mutex);
  std::erase_if(*open, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<DatabasePages>& known = (*open)[path];
  std::shared_ptr<DatabasePages> pages = known.lock();
  if (pages == nullptr) known = pages = std::make_shared<DatabasePages>(path);
  return pages;
}

// An open database file. SQLite gives the memory; the file of LogVfsName() stands behind it.
struct PageFile {
  sqlite3_file base;  // first: what SQLite sees
  sqlite3_file* real;
  std::shared_ptr<DatabasePages>* pages;
  std::byte* copy;  // of a page that is written; allocated with the first
  bool reads_damaged;
};

PageFile& File(sqlite3_file* file) { return *reinterpret_cast<PageFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return File(file).real; }

bool IsPage(int size, sqlite3_int64 offset) {
  return size >= kSmallestPage && size <= kLargestPage && (size & (size - 1)) == 0 && offset % size == 0;
}

std::uint32_t NumberOf(int size, sqlite3_int64 offset) { return static_cast<std::uint32_t>(offset / size) + 1; }

std::uint64_t ChecksumOf(const void* page, int size, std::uint32_t number) {
  return Crc64Nvme({static_cast<const std::byte*>(page), static_cast<std::size_t>(size - kPageChecksumBytes)}, number);
}

bool Matches(const void* page, int size, std::uint32_t number) {
  std::uint64_t stored = 0;
  static_assert(sizeof stored == kPageChecksumBytes);
  std::memcpy(&stored, static_cast<const std::byte*>(page) + size - kPageChecksumBytes, sizeof stored);
  return stored == ChecksumOf(page, size, number);
}

bool SaysChecksums(const void* header) {
  const auto* const bytes = static_cast<const char*>(header);
  return std::string_view(bytes, kMagic.size()) == kMagic && bytes[kReservedAt] == kPageChecksumBytes;
}

// SQLITE_OK, or SQLITE_IOERR_DATA for a page that is to be refused.
int Verify(PageFile& file, const void* page, int size, sqlite3_int64 offset) noexcept {
  DatabasePages& pages = **file.pages;
  if (!pages.has_checksums.load(std::memory_order_acquire)) return SQLITE_OK;
  const std::uint32_t number = NumberOf(size, offset);
  if (pages.verified.Test(number)) return SQLITE_OK;
  if (Matches(page, size, number)) {
    pages.verified.Set(number);
    return SQLITE_OK;
  }
  try {
    pages.AddDamaged(number, offset);
  } catch (...) {  // out of memory: the page is refused without a line in the log
  }
  return file.reads_damaged ? SQLITE_OK : SQLITE_IOERR_DATA;
}

int Close(sqlite3_file* file) {
  delete File(file).pages;
  delete[] File(file).copy;
  return Real(file)->pMethods->xClose(Real(file));
}

int Read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  const int code = Real(file)->pMethods->xRead(Real(file), into, size, offset);
  return code == SQLITE_OK && IsPage(size, offset) ? Verify(File(file), into, size, offset) : code;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  PageFile& own = File(file);
  DatabasePages& pages = **own.pages;
  if (offset == 0 && size >= kHeaderBytes) pages.has_checksums.store(SaysChecksums(bytes), std::memory_order_release);
  if (!pages.has_checksums.load(std::memory_order_acquire) || !IsPage(size, offset)) {
    return own.real->pMethods->xWrite(own.real, bytes, size, offset);
  }
  if (own.copy == nullptr) own.copy = new (std::nothrow) std::byte[kLargestPage];
  if (own.copy == nullptr) return SQLITE_IOERR_NOMEM;
  const std::uint32_t number = NumberOf(size, offset);
  const std::uint64_t checksum = ChecksumOf(bytes, size, number);
  std::memcpy(own.copy, bytes, static_cast<std::size_t>(size - kPageChecksumBytes));
  std::memcpy(own.copy + size - kPageChecksumBytes, &checksum, sizeof checksum);
  const int code = own.real->pMethods->xWrite(own.real, own.copy, size, offset);
  pages.verified.Clear(number);
  return code;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) { return Real(file)->pMethods->xTruncate(Real(file), size); }
int Sync(sqlite3_file* file, int flags) { return Real(file)->pMethods->xSync(Real(file), flags); }
int FileSize(sqlite3_file* file, sqlite3_int64* size) { return Real(file)->pMethods->xFileSize(Real(file), size); }
int Lock(sqlite3_file* file, int level) { return Real(file)->pMethods->xLock(Real(file), level); }
int Unlock(sqlite3_file* file, int level) { return Real(file)->pMethods->xUnlock(Real(file), level); }
int CheckReservedLock(sqlite3_file* file, int* held) { return Real(file)->pMethods->xCheckReservedLock(Real(file), held); }

int FileControl(sqlite3_file* file, int what, void* argument) {
  switch (what) {
    case kGetState:
      *static_cast<std::shared_ptr<DatabasePages>*>(argument) = *File(file).pages;
      return SQLITE_OK;
    case kReadDamaged:
      File(file).reads_damaged = true;
      return SQLITE_OK;
    default:
      return Real(file)->pMethods->xFileControl(Real(file), what, argument);
  }
}

int SectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
int DeviceCharacteristics(sqlite3_file* file) { return Real(file)->pMethods->xDeviceCharacteristics(Real(file)); }
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** mapped) {
  return Real(file)->pMethods->xShmMap(Real(file), region, size, extend, mapped);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) { return Real(file)->pMethods->xShmUnmap(Real(file), remove); }

int Fetch(sqlite3_file* file, sqlite3_int64 offset, int size, void** page) {
  const int code = Real(file)->pMethods->xFetch(Real(file), offset, size, page);
  if (code != SQLITE_OK || *page == nullptr || !IsPage(size, offset)) return code;
  const int verified = Verify(File(file), *page, size, offset);
  if (verified == SQLITE_OK) return SQLITE_OK;
  Real(file)->pMethods->xUnfetch(Real(file), offset, *page);
  *page = nullptr;
  return verified;
}

int Unfetch(sqlite3_file* file, sqlite3_int64 offset, void* page) {
  return Real(file)->pMethods->xUnfetch(Real(file), offset, page);
}

const sqlite3_io_methods kPageMethods = {
    .iVersion = 3,
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
    .xShmMap = ShmMap,
    .xShmLock = ShmLock,
    .xShmBarrier = ShmBarrier,
    .xShmUnmap = ShmUnmap,
    .xFetch = Fetch,
    .xUnfetch = Unfetch,
};

// The file behind a PageFile, in the memory that SQLite gives.
constexpr std::size_t kRealOffset = (sizeof(PageFile) + 15) / 16 * 16;

sqlite3_vfs* parent = nullptr;  // set once, before ours is registered

// nullptr when memory has run out.
std::shared_ptr<DatabasePages>* NewPages(const char* path) noexcept {
  try {
    return new std::shared_ptr<DatabasePages>(PagesOf(path));
  } catch (...) {
    return nullptr;
  }
}

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* opened_as) {
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || name == nullptr) return parent->xOpen(parent, name, file, flags, opened_as);
  PageFile& own = File(file);
  own.base.pMethods = nullptr;  // tells SQLite not to close it
  own.real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kRealOffset);
  own.copy = nullptr;
  own.reads_damaged = false;
  own.pages = NewPages(name);
  if (own.pages == nullptr) return SQLITE_NOMEM;
  const int code = parent->xOpen(parent, name, own.real, flags, opened_as);
  if (code != SQLITE_OK) {
    if (own.real->pMethods != nullptr) own.real->pMethods->xClose(own.real);
    delete own.pages;
    return code;
  }
  char header[kHeaderBytes] = {};
  if (own.real->pMethods->xRead(own.real, header, kHeaderBytes, 0) == SQLITE_OK && SaysChecksums(header)) {
    (*own.pages)->has_checksums.store(true, std::memory_order_release);
  }
  own.base.pMethods = &kPageMethods;
  return SQLITE_OK;
}

const char* Register() {
  const char* const under = LogVfsName();
  parent = under == nullptr ? nullptr : sqlite3_vfs_find(under);
  if (parent == nullptr) return nullptr;
  static sqlite3_vfs ours = *parent;
  ours.pNext = nullptr;
  ours.zName = kName;
  ours.szOsFile = static_cast<int>(kRealOffset) + parent->szOsFile;
  ours.xOpen = Open;
  return sqlite3_vfs_register(&ours, 0) == SQLITE_OK ? kName : nullptr;
}

std::shared_ptr<DatabasePages> StateOf(sqlite3* db) {
  std::shared_ptr<DatabasePages> pages;
  static_cast<void>(sqlite3_file_control(db, "main", kGetState, &pages));
  return pages;
}

}  // namespace

const char* PageChecksumVfsName() {
  static const char* const name = Register();
  return name;
}

bool HasPageChecksums(sqlite3* db) {
  const auto pages = StateOf(db);
  return pages != nullptr && pages->has_checksums.load(std::memory_order_acquire);
}

void ReadDamagedPages(sqlite3* db) { static_cast<void>(sqlite3_file_control(db, "main", kReadDamaged, nullptr)); }

std::vector<std::uint32_t> DamagedPages(sqlite3* db) {
  const auto pages = StateOf(db);
  return pages != nullptr ? pages->damaged() : std::vector<std::uint32_t>();
}

}  // namespace penstock::emulator::store
