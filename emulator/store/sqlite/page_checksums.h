// A checksum in each page of a database file, so that damage is found before SQLite reads the page.
//
// The last 8 bytes of a page, which SQLite leaves to the application ("reserved space",
// sqlite.org/fileformat2.html section 1.3.4), hold the CRC-64/NVME of the rest of the page and its
// number. It is written when a page is written to the database file and verified when a page of the
// file is read for the first time after a start or a write. Pages in the write-ahead log are
// covered by the log's own checksums.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_CHECKSUMS_H_

#include <cstdint>
#include <vector>

struct sqlite3;

namespace penstock::emulator::store {

// Reserved bytes of a page. A database with another number of them has no checksums, and its pages
// are not verified.
inline constexpr int kPageChecksumBytes = 8;

// The name of an SQLite VFS that does this for database files and is LogVfsName() for everything
// else. A page that does not match its checksum is an SQLITE_IOERR_DATA. Null: it could not be
// registered; use LogVfsName(). Thread safety: any thread.
const char* PageChecksumVfsName();

// Of the database that is open on `db`; each false or empty where it is not open by that VFS.
// Thread safety: as `db`.
bool HasPageChecksums(sqlite3* db);
// Reads damaged pages as they are from now on, for a check that looks at the rest of the database.
void ReadDamagedPages(sqlite3* db);
// Numbers of pages that did not match, ascending, since the first connection of this process to
// that database.
std::vector<std::uint32_t> DamagedPages(sqlite3* db);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_PAGE_CHECKSUMS_H_
