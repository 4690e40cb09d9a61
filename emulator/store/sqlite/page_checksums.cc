#include "emulator/store/sqlite/page_checksums.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/crc/crc.h"
#include "emulator/store/sqlite/callback_exceptions.h"
#include "emulator/store/sqlite/damage_record.h"
#include "emulator/store/sqlite/log_vfs.h"
#include "emulator/store/sqlite/page_bits.h"
#include "emulator/store/sqlite/shared_by_path.h"
#include "emulator/store/sqlite/vfs_forwarding.h"
#include "emulator/store/system/mapped_space.h"
#include "penstock/base/bytes.h"

namespace penstock::emulator::store {
namespace {

constexpr char kName[] = "penstock-pages";
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kHeaderBytes = 100;  // of a database, at the start of its first page
constexpr int kPageSizeAt = 16;    // offset of the page size in the header
constexpr int kReservedAt = 20;    // offset of the number of reserved bytes in the header
constexpr int kSmallestPage = 512;
constexpr int kUsualPage = 4096;
constexpr int kLargestPage = 64 << 10;
// File controls of this VFS. SQLite reserves numbers up to 100 for itself.
constexpr int kGetState = 0x50530001;
constexpr int kReadDamaged = 0x50530002;

// State shared by the connections of this process to one database file.
class DatabasePages {
 public:
  explicit DatabasePages(std::string path) : damage(std::move(path), "page") {}

  std::atomic<int> page_size{0};  // bytes per page; 0: the pages have no checksums
  std::atomic<std::uint32_t> store_id{0};
  PageBits verified;
  DamageRecord damage;

  // Takes size and id from the header of a database.
  void Adopt(const void* header);
};

// An open database file. The real file belongs to LogVfsName().
struct PageFile {
  ForwardingFile forwarding;  // must be first
  std::shared_ptr<DatabasePages>* pages;
  std::byte* copy;  // buffer for one page, allocated when first needed
  bool reads_damaged;
};

PageFile& File(sqlite3_file* file) { return *reinterpret_cast<PageFile*>(file); }

int PageSize(const PageFile& file) {
  return (*file.pages)->page_size.load(std::memory_order_acquire);
}

bool AllocateCopy(PageFile& file) noexcept {
  if (file.copy == nullptr) file.copy = new (std::nothrow) std::byte[kLargestPage];
  return file.copy != nullptr;
}

std::uint32_t NumberOf(int size, sqlite3_int64 offset) {
  return static_cast<std::uint32_t>(offset / size) + 1;
}

// The first page contains the store id, and earlier builds must be able to read its version: its
// checksum does not depend on the id. CRCs of the same bytes with different initial values differ.
std::uint64_t ChecksumOf(const DatabasePages& pages, const void* page, int size,
                         std::uint32_t number) {
  const std::uint64_t id = number == 1 ? 0 : pages.store_id.load(std::memory_order_acquire);
  return Crc64Nvme(
      {static_cast<const std::byte*>(page), static_cast<std::size_t>(size - kPageChecksumBytes)},
      id << 32 | number);
}

bool Matches(const DatabasePages& pages, const void* page, int size, std::uint32_t number) {
  std::uint64_t stored = 0;
  static_assert(sizeof stored == kPageChecksumBytes);
  std::memcpy(&stored, static_cast<const std::byte*>(page) + size - kPageChecksumBytes,
              sizeof stored);
  return stored == ChecksumOf(pages, page, size, number);
}

// The size of a database's pages; 0: they have no checksums. An invalid size is replaced by the
// usual one: the first page then fails its verification.
int PageSizeIn(const void* header) {
  const auto* const bytes = static_cast<const unsigned char*>(header);
  if (std::memcmp(bytes, kMagic.data(), kMagic.size()) != 0 ||
      bytes[kReservedAt] != kPageChecksumBytes)
    return 0;
  // Big-endian; 1 means 65536.
  const unsigned size = unsigned{bytes[kPageSizeAt]} << 8 | unsigned{bytes[kPageSizeAt + 1]} << 16;
  const bool fits = std::has_single_bit(size) && size >= kSmallestPage && size <= kLargestPage;
  return fits ? static_cast<int>(size) : kUsualPage;
}

void DatabasePages::Adopt(const void* header) {
  const auto* const id = static_cast<const unsigned char*>(header) + kStoreIdOffset;
  store_id.store(std::uint32_t{id[0]} << 24 | std::uint32_t{id[1]} << 16 |
                     std::uint32_t{id[2]} << 8 | std::uint32_t{id[3]},
                 std::memory_order_release);
  page_size.store(PageSizeIn(header), std::memory_order_release);
}

// Reports a damaged page. Returns `otherwise` if damaged pages are to be read.
int ReportDamage(PageFile& file, std::uint32_t number, sqlite3_int64 offset, int otherwise) {
  (*file.pages)->damage.Add(number, offset);
  return file.reads_damaged ? otherwise : SQLITE_IOERR_DATA;
}

// Verifies a whole page. SQLITE_IOERR_DATA: the page is damaged and must not be read.
int Verify(PageFile& file, const void* page, int size, sqlite3_int64 offset) noexcept {
  DatabasePages& pages = **file.pages;
  const std::uint32_t number = NumberOf(size, offset);
  if (pages.verified.Test(number)) return SQLITE_OK;
  if (!Matches(pages, page, size, number)) return ReportDamage(file, number, offset, SQLITE_OK);
  pages.verified.Set(number);
  return SQLITE_OK;
}

int Close(sqlite3_file* file) {
  delete File(file).pages;
  delete[] File(file).copy;
  return Forward<&sqlite3_io_methods::xClose>(file);
}

int ReadReal(PageFile& file, void* into, int size, sqlite3_int64 offset) {
  sqlite3_file* const real = file.forwarding.real;
  return real->pMethods->xRead(real, into, size, offset);
}

// Reads bytes of one page. The whole page is verified before any of its bytes are
// returned. A page beyond the end of the file is rejected: SQLite would read it as zeros, and it
// requests only pages that must exist.
int ReadInPage(PageFile& file, std::byte* into, int size, sqlite3_int64 offset, int page_size) {
  const auto skipped = static_cast<int>(offset % page_size);
  const std::uint32_t number = NumberOf(page_size, offset);
  int code = SQLITE_OK;
  if (size == page_size || (*file.pages)->verified.Test(number)) {
    code = ReadReal(file, into, size, offset);
    if (code == SQLITE_OK && size == page_size) return Verify(file, into, page_size, offset);
  } else {
    if (!AllocateCopy(file)) return SQLITE_IOERR_NOMEM;
    code = ReadReal(file, file.copy, page_size, offset - skipped);
    if (code == SQLITE_OK) code = Verify(file, file.copy, page_size, offset - skipped);
    const bool is_read = code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ;
    if (is_read) std::memcpy(into, file.copy + skipped, static_cast<std::size_t>(size));
  }
  return code == SQLITE_IOERR_SHORT_READ ? ReportDamage(file, number, offset - skipped, code)
                                         : code;
}

// When it opens a file, SQLite reads only the header, and the page that contains it before it uses
// the file. Since 3.45 it reads overflow pages without their unused end.
int Read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  PageFile& own = File(file);
  const int page_size = PageSize(own);
  if (page_size == 0 || offset + size <= kHeaderBytes) return ReadReal(own, into, size, offset);
  int result = SQLITE_OK;
  for (auto* to = static_cast<std::byte*>(into); size > 0;) {
    const int part = std::min(size, page_size - static_cast<int>(offset % page_size));
    const int code = ReadInPage(own, to, part, offset, page_size);
    if (code != SQLITE_OK) result = code;
    // After a short read the remaining bytes are zeros.
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    to += part;
    offset += part;
    size -= part;
  }
  return result;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  PageFile& own = File(file);
  DatabasePages& pages = **own.pages;
  if (offset == 0 && size >= kHeaderBytes) pages.Adopt(bytes);
  const int page_size = PageSize(own);
  if (page_size == 0 || size != page_size)
    return Forward<&sqlite3_io_methods::xWrite>(file, bytes, size, offset);
  if (!AllocateCopy(own)) return SQLITE_IOERR_NOMEM;
  const std::uint32_t number = NumberOf(size, offset);
  const std::uint64_t checksum = ChecksumOf(pages, bytes, size, number);
  std::memcpy(own.copy, bytes, static_cast<std::size_t>(size - kPageChecksumBytes));
  std::memcpy(own.copy + size - kPageChecksumBytes, &checksum, sizeof checksum);
  const int code =
      Forward<&sqlite3_io_methods::xWrite>(file, static_cast<const void*>(own.copy), size, offset);
  pages.verified.Clear(number);
  return code;
}

int FileControl(sqlite3_file* file, int what, void* argument) {
  switch (what) {
    case kGetState:
      *static_cast<std::shared_ptr<DatabasePages>*>(argument) = *File(file).pages;
      return SQLITE_OK;
    case kReadDamaged: File(file).reads_damaged = true; return SQLITE_OK;
    default: return Forward<&sqlite3_io_methods::xFileControl>(file, what, argument);
  }
}

// SQLite writes one byte per page of memory to extend the index of a log. With smaller blocks the
// rest of the page remains a hole.
int MapIndex(sqlite3_file* file, int region, int size, int may_extend, volatile void** memory) {
  const int code = Forward<&sqlite3_io_methods::xShmMap>(file, region, size, may_extend, memory);
  if (code != SQLITE_OK || *memory == nullptr) return code;
  const int error = AllocateMapped(const_cast<void*>(*memory), static_cast<std::size_t>(size));
  if (error == 0) return SQLITE_OK;
  *memory = nullptr;  // otherwise SQLite uses it at the next call
  return error == ENOMEM ? SQLITE_NOMEM : SQLITE_FULL;
}

// If no page is returned, SQLite reads through xRead.
int Fetch(sqlite3_file* file, sqlite3_int64 offset, int size, void** page) {
  const int code = Forward<&sqlite3_io_methods::xFetch>(file, offset, size, page);
  const int page_size = PageSize(File(file));
  if (code != SQLITE_OK || *page == nullptr || page_size == 0) return code;
  const int verified = size == page_size ? Verify(File(file), *page, size, offset) : SQLITE_OK;
  if (verified == SQLITE_OK && size == page_size) return SQLITE_OK;
  Forward<&sqlite3_io_methods::xUnfetch>(file, offset, *page);
  *page = nullptr;
  return verified;
}

constexpr sqlite3_io_methods kPageMethods = [] {
  sqlite3_io_methods methods = kForwardingMethods;
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xFileControl = FileControl;
  methods.xShmMap = MapIndex;
  methods.xFetch = Fetch;
  return methods;
}();

sqlite3_vfs* parent = nullptr;  // set once, before this VFS is registered

// nullptr if memory runs out.
std::shared_ptr<DatabasePages>* NewPages(const char* path) noexcept {
  try {
    return new std::shared_ptr<DatabasePages>(SharedByPath<DatabasePages>(path));
  } catch (...) {
    static_cast<void>(RanOutOfMemory("opening a database file"));
    return nullptr;
  }
}

int Open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* opened_as) {
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || name == nullptr)
    return parent->xOpen(parent, name, file, flags, opened_as);
  PageFile& own = File(file);
  InitForwarding<PageFile>(file);
  own.copy = nullptr;
  own.reads_damaged = false;
  own.pages = NewPages(name);
  if (own.pages == nullptr) return SQLITE_NOMEM;
  int code = parent->xOpen(parent, name, RealFile(file), flags, opened_as);
  char header[kHeaderBytes] = {};
  if (code == SQLITE_OK) code = ReadReal(own, header, kHeaderBytes, 0);
  const bool is_empty = code == SQLITE_IOERR_SHORT_READ;
  if (code != SQLITE_OK && !is_empty) {
    if (RealFile(file)->pMethods != nullptr) Forward<&sqlite3_io_methods::xClose>(file);
    delete own.pages;
    return code;
  }
  if (!is_empty && PageSizeIn(header) != 0) (*own.pages)->Adopt(header);
  own.forwarding.base.pMethods = &kPageMethods;
  return SQLITE_OK;
}

const char* Register() {
  const char* const parent_name = LogVfsName();
  parent = parent_name == nullptr ? nullptr : sqlite3_vfs_find(parent_name);
  if (parent == nullptr) return nullptr;
  static sqlite3_vfs vfs = *parent;
  vfs.pNext = nullptr;
  vfs.zName = kName;
  vfs.szOsFile = static_cast<int>(kRealFileOffset<PageFile>) + parent->szOsFile;
  vfs.xOpen = Open;
  return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? kName : nullptr;
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
  return pages != nullptr && pages->page_size.load(std::memory_order_acquire) != 0;
}

void ReadDamagedPages(sqlite3* db) {
  static_cast<void>(sqlite3_file_control(db, "main", kReadDamaged, nullptr));
}

std::vector<std::uint32_t> DamagedPages(sqlite3* db) {
  const auto pages = StateOf(db);
  return pages != nullptr ? pages->damage.numbers() : std::vector<std::uint32_t>();
}

}  // namespace penstock::emulator::store
