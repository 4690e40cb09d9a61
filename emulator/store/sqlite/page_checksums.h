// Stores a checksum in each page of a database file, so that damage is detected before SQLite reads
// the page.
//
// The last 8 bytes of a page, which SQLite reserves for extensions ("reserved space",
// sqlite.org/fileformat2.html section 1.3.4), contain the CRC-64/NVME of the rest of the page, the
// page number and the store id, so that a page of another place or another store is damaged. The
// store id is the database's application id (section 1.3.17), a random number of its creation; 0 in
// databases of earlier builds. The checksum is written with each page and verified when a page of
// the file is first read after a start or a write. Pages in the write-ahead log are verified by
// the log's VFS (log_checksums.h).
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_CHECKSUMS_H_

#include <cstdint>
#include <vector>

struct sqlite3;

namespace penstock::emulator::store {

// Reserved bytes of a page. A database with another number of reserved bytes has no checksums and
// is not verified.
inline constexpr int kPageChecksumBytes = 8;
// Offset of the store id in the database's first page, 4 bytes, big-endian.
inline constexpr int kStoreIdOffset = 68;

// The name of an SQLite VFS that adds checksums to database files and uses LogVfsName() for all
// other files. Reading a page with a wrong checksum fails with SQLITE_IOERR_DATA. The index of a
// log gets its disk space before it is used (mapped_space.h); a full disk is SQLITE_FULL. Null: the
// VFS could not be registered; use LogVfsName(). Thread safety: any thread.
const char* PageChecksumVfsName();

// These functions concern the main database of `db`. They return false or empty if it was opened by
// another VFS. Thread safety: as `db`.
bool HasPageChecksums(sqlite3* db);
// From now on returns damaged pages instead of an error, for a check of the rest of the database.
void ReadDamagedPages(sqlite3* db);
// Numbers of the pages with wrong checksums, ascending, found since this process first opened the
// database.
std::vector<std::uint32_t> DamagedPages(sqlite3* db);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_CHECKSUMS_H_
