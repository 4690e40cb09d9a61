#include "emulator/store/sqlite/page_checksums.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/log/diagnostics.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

constexpr std::int64_t kPage = 4096;

class PageChecksumsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> Open(Connection::Access access = Connection::Access::kReadWrite) {
    auto opened = Connection::Open(path_, access);
    EXPECT_TRUE(opened.ok());
    (*opened)->AllowLogRemoval();
    return std::move(opened).value();
  }
  // Writes 200 rows to a few pages. Closing the connection moves them to the file.
  void Fill(Connection& connection) {
    ASSERT_TRUE(
        connection
            .Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b);"
                     "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200)"
                     "INSERT INTO t SELECT x, zeroblob(100) FROM n")
            .ok());
  }
  void MakeDatabase() {
    const auto connection = Open();
    ASSERT_TRUE(connection->ReservePageChecksums().ok());
    Fill(*connection);
  }
  void Flip(std::int64_t offset) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const char byte = static_cast<char>(file.get());
    file.seekp(offset);
    file.put(static_cast<char>(byte ^ 0x10));
    ASSERT_TRUE(file.good());
  }
  // The open database file that SQLite reads.
  static sqlite3_file& FileOf(Connection& connection) {
    sqlite3_file* file = nullptr;
    EXPECT_EQ(sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file),
              SQLITE_OK);
    return *file;
  }
  static int ReadBytes(Connection& connection, std::int64_t offset, std::string& into) {
    sqlite3_file& file = FileOf(connection);
    return file.pMethods->xRead(&file, into.data(), static_cast<int>(into.size()), offset);
  }
  std::string BytesOfFile(std::int64_t offset, std::size_t size) const {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(offset);
    std::string bytes(size, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
  }
  static Result<std::int64_t> Sum(Connection& connection) {
    Query query(connection, "SELECT sum(a) FROM t");
    PENSTOCK_ASSIGN(const bool row, query.Step());
    return row ? query.Int(0) : -1;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/db";
};

TEST_F(PageChecksumsTest, DetectsAChangedByteAnywhereInAPage) {
  MakeDatabase();
  const auto pages = static_cast<std::int64_t>(std::filesystem::file_size(path_)) / kPage;
  ASSERT_GT(pages, 5);
  for (std::int64_t page = 2; page <= pages; ++page) {
    // Header, cell count, cells, checksum.
    for (const std::int64_t at : {0, 3, 9, 700, 4000, 4090, 4095}) {
      const std::int64_t offset = (page - 1) * kPage + at;
      Flip(offset);
      for (const char* cache : {"PRAGMA mmap_size=1073741824", "PRAGMA mmap_size=0"}) {
        const auto connection = Open();
        ASSERT_TRUE(connection->Execute(cache).ok());
        const auto sum = Sum(*connection);
        ASSERT_FALSE(sum.ok()) << "page " << page << " byte " << at << " " << cache;
        EXPECT_EQ(sum.error().kind, ErrorKind::kDataLoss);
        EXPECT_EQ(connection->DamagedPages(),
                  std::vector<std::uint32_t>{static_cast<std::uint32_t>(page)});
      }
      Flip(offset);
    }
  }
  EXPECT_EQ(*Sum(*Open()), 20'100);
}

TEST_F(PageChecksumsTest, DetectsAChangedByteOfTheHeader) {
  MakeDatabase();
  for (std::int64_t at = 0; at < 120; ++at) {
    Flip(at);
    const auto connection = Connection::Open(path_);
    // If the number of reserved bytes is damaged, nothing is verified; the caller must check
    // HasPageChecksums.
    const bool verifies = connection.ok() && (*connection)->HasPageChecksums();
    EXPECT_TRUE(!verifies || !Sum(**connection).ok()) << at;
    EXPECT_TRUE(verifies || at < 16 || at == 20) << at;
    Flip(at);
  }
}

TEST_F(PageChecksumsTest, DetectsZeroedAndMisplacedPages) {
  MakeDatabase();
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  std::string page(kPage, '\0');
  file.seekg(4 * kPage);
  file.read(page.data(), kPage);
  const std::string fifth = page;
  file.seekp(4 * kPage);
  file << std::string(kPage, '\0') << std::flush;
  EXPECT_FALSE(Sum(*Open()).ok());
  file.seekp(4 * kPage);
  file << fifth;
  file.seekp(5 * kPage);
  file << fifth << std::flush;
  EXPECT_FALSE(Sum(*Open()).ok());
}

// Two stores with the same rows in the same pages.
TEST_F(PageChecksumsTest, DetectsAPageOfAnotherDatabase) {
  const std::string other = path_ + "-other";
  const auto make = [](const std::string& path) {
    ASSERT_TRUE(CreateDatabaseFile(path,
                                   "CREATE TABLE t(a INTEGER PRIMARY KEY, b);"
                                   "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
                                   "WHERE x < 200) INSERT INTO t SELECT x, zeroblob(100) FROM n")
                    .ok());
  };
  make(path_);
  make(other);
  const auto pages = static_cast<std::int64_t>(std::filesystem::file_size(path_)) / kPage;
  ASSERT_GT(pages, 5);
  ASSERT_EQ(Sum(*Open()).value(), 20'100);
  for (std::int64_t page = 1; page <= pages; ++page) {
    const std::string own = BytesOfFile((page - 1) * kPage, kPage);
    std::string foreign(kPage, '\0');
    std::ifstream source(other, std::ios::binary);
    source.seekg((page - 1) * kPage);
    source.read(foreign.data(), kPage);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * kPage);
    file << foreign << std::flush;
    const auto sum = Sum(*Open());
    ASSERT_FALSE(sum.ok()) << "page " << page;
    EXPECT_EQ(sum.error().kind, ErrorKind::kDataLoss);
    file.seekp((page - 1) * kPage);
    file << own << std::flush;
  }
  EXPECT_EQ(Sum(*Open()).value(), 20'100);
}

TEST_F(PageChecksumsTest, DatabasesOfEarlierBuildsHaveNoStoreId) {
  MakeDatabase();
  const auto connection = Open();
  Query query(*connection, "PRAGMA application_id");
  ASSERT_TRUE(query.Step().value());
  EXPECT_EQ(query.Int(0), 0);
  EXPECT_EQ(Sum(*connection).value(), 20'100);
}

TEST_F(PageChecksumsTest, VerifiesAPageOnceAfterEachWrite) {
  MakeDatabase();
  const auto connection = Open();
  ASSERT_TRUE(Sum(*connection).ok());
  Flip(4 * kPage + 2000);
  const auto other = Open();
  EXPECT_TRUE(Sum(*other).ok()) << "another connection of this process has verified the page";
  Flip(4 * kPage + 2000);
  ASSERT_TRUE(
      connection->Execute("UPDATE t SET b = zeroblob(99); PRAGMA wal_checkpoint(TRUNCATE)").ok());
  Flip(4 * kPage + 2000);
  EXPECT_FALSE(Sum(*Open()).ok());
}

TEST_F(PageChecksumsTest, AddsChecksumsToAnOldDatabase) {
  Fill(*Open());
  EXPECT_FALSE(Open()->HasPageChecksums());
  {
    const auto connection = Open();
    ASSERT_TRUE(connection->AddPageChecksums().ok());
    EXPECT_TRUE(connection->HasPageChecksums());
    EXPECT_EQ(*Sum(*connection), 20'100);
  }
  EXPECT_TRUE(Open()->HasPageChecksums());
  EXPECT_EQ(*Sum(*Open()), 20'100);
  Flip(3 * kPage + 2000);
  EXPECT_FALSE(Sum(*Open()).ok());
}

TEST_F(PageChecksumsTest, DamagedPagesAreReadOnRequest) {
  MakeDatabase();
  Flip(3 * kPage + 2000);
  const auto connection = Open(Connection::Access::kImmutable);
  const std::uint64_t counted = DiagnosticCounts()["database.page_damaged"];
  EXPECT_FALSE(Sum(*connection).ok());
  connection->ReadDamagedPages();
  EXPECT_EQ(*Sum(*connection), 20'100) << "the byte does not belong to this column";
  EXPECT_EQ(connection->DamagedPages(), std::vector<std::uint32_t>{4});
  EXPECT_EQ(DiagnosticCounts()["database.page_damaged"], counted + 1);
}

struct Part {
  std::int64_t offset;  // in the database file
  std::size_t size;
};

// SQLite 3.45 and later read overflow pages without their unused end (SQLITE_DIRECT_OVERFLOW_READ),
// so a read may cover any part of a page. A read whose size is a power of two must not be treated
// as a page.
const Part kPartsOfPage4[] = {
    {3 * kPage, 4},         {3 * kPage, 512},         {3 * kPage, 4088},
    {3 * kPage + 300, 100}, {3 * kPage + 1024, 1024}, {3 * kPage + 4095, 1},
    {2 * kPage, 2 * kPage}, {2 * kPage + 4000, 200},  {3 * kPage + 4000, 200}};

TEST_F(PageChecksumsTest, RejectsPartsOfADamagedPage) {
  MakeDatabase();
  Flip(3 * kPage + 2000);
  for (const Part& part : kPartsOfPage4) {
    const auto connection = Open();
    std::string bytes(part.size, '?');
    EXPECT_EQ(ReadBytes(*connection, part.offset, bytes), SQLITE_IOERR_DATA)
        << part.offset << " + " << part.size;
    EXPECT_EQ(connection->DamagedPages(), std::vector<std::uint32_t>{4})
        << part.offset << " + " << part.size;
  }
  const auto connection = Open();
  connection->ReadDamagedPages();
  std::string bytes(100, '?');
  EXPECT_EQ(ReadBytes(*connection, 3 * kPage + 1990, bytes), SQLITE_OK)
      << "a check reads damaged bytes";
  EXPECT_EQ(bytes, BytesOfFile(3 * kPage + 1990, 100));
}

TEST_F(PageChecksumsTest, ReadsPartsOfAnIntactPageAndVerifiesItOnce) {
  MakeDatabase();
  for (const Part& part : kPartsOfPage4) {
    const auto connection = Open();
    std::string bytes(part.size, '?');
    ASSERT_EQ(ReadBytes(*connection, part.offset, bytes), SQLITE_OK)
        << part.offset << " + " << part.size;
    EXPECT_TRUE(bytes == BytesOfFile(part.offset, part.size)) << part.offset << " + " << part.size;
  }
  const auto connection = Open();
  std::string bytes(100, '?');
  ASSERT_EQ(ReadBytes(*connection, 3 * kPage, bytes), SQLITE_OK);
  Flip(3 * kPage + 2000);
  EXPECT_EQ(ReadBytes(*connection, 3 * kPage + 1990, bytes), SQLITE_OK) << "verified before";
}

// If there is a log, SQLite takes the size of the database from it, and reads a page that the file
// does not contain as zeros.
TEST_F(PageChecksumsTest, APageBeyondTheEndOfTheFileIsAnError) {
  MakeDatabase();
  // Creates overflow pages at the end of the file.
  ASSERT_TRUE(Open()->Execute("INSERT INTO t VALUES(1000, randomblob(20000))").ok());
  const auto writer = Open();
  ASSERT_TRUE(writer->Execute("UPDATE t SET b = 'in the log' WHERE a = 1").ok());
  int copies = 0;
  for (const std::uint64_t cut : {1, 4096, 3 * 4096 + 100}) {
    for (const char* cache : {"PRAGMA mmap_size=1073741824", "PRAGMA mmap_size=0"}) {
      const std::string copy = directory_.path() + "/copy" + std::to_string(++copies);
      for (const char* file : {"", "-wal"}) std::filesystem::copy_file(path_ + file, copy + file);
      std::filesystem::resize_file(copy, std::filesystem::file_size(copy) - cut);
      const auto connection = Connection::Open(copy);
      ASSERT_TRUE(connection.ok());
      ASSERT_TRUE((*connection)->Execute(cache).ok());
      Query query(**connection, "SELECT b FROM t WHERE a = 1000");
      const auto row = query.Step();
      ASSERT_FALSE(row.ok() && !query.Bytes(0).empty()) << cut << " bytes less, " << cache;
      EXPECT_FALSE((*connection)->DamagedPages().empty());
    }
  }
}

}  // namespace
}  // namespace penstock::emulator::store
