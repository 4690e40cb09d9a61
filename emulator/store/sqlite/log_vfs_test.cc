#include "emulator/store/sqlite/log_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/log/diagnostics.h"
#include "emulator/store/full_disk_testing.h"
#include "emulator/store/sqlite/commit_mark.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

// A database in WAL mode, opened with the given VFS; null: the system's.
class Database {
 public:
  Database(const std::string& path, const char* vfs) {
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs),
              SQLITE_OK);
    Run("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=NORMAL");
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  void Run(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }
  // The extended result code of a statement.
  int Code(const std::string& sql) {
    sqlite3_extended_result_codes(db_, 1);
    return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  }
  int Checkpoint() {
    sqlite3_extended_result_codes(db_, 1);
    return sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }
  // Closing the last connection leaves the log as it is.
  void KeepLog() { sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }
  // Reads bytes of the log as SQLite does.
  int ReadLog(std::int64_t offset, std::string& into) {
    sqlite3_file* log = nullptr;
    EXPECT_EQ(sqlite3_file_control(db_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log), SQLITE_OK);
    return log->pMethods->xRead(log, into.data(), static_cast<int>(into.size()), offset);
  }
  std::int64_t Number(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << sql;
    const std::int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
  }

 private:
  sqlite3* db_ = nullptr;
};

class LogVfsTest : public ::testing::Test {
 protected:
  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/db";
};

TEST_F(LogVfsTest, IsRegisteredButNotTheDefault) {
  ASSERT_NE(LogVfsName(), nullptr);
  EXPECT_EQ(sqlite3_vfs_find(LogVfsName()), sqlite3_vfs_find("penstock"));
  EXPECT_STRNE(sqlite3_vfs_find(nullptr)->zName, "penstock");
}

TEST_F(LogVfsTest, EveryCommitIsInTheFileWhenItReturns) {
  Database writer(path_, LogVfsName());
  writer.Run("CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
  for (int i = 1; i <= 20; ++i) {
    writer.Run(
        "BEGIN; INSERT INTO t VALUES(NULL, randomblob(9000)); INSERT INTO t VALUES(NULL, 'x'); "
        "COMMIT");
    // The state after kill -9: the unchanged files, opened by a plain SQLite.
    const std::string copy = directory_.path() + "/copy" + std::to_string(i);
    std::filesystem::copy_file(path_, copy);
    std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
    Database reader(copy, nullptr);
    EXPECT_EQ(reader.Number("SELECT count(*) FROM t"), 2 * i);
    EXPECT_EQ(
        reader.Number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"), 1);
  }
}

TEST_F(LogVfsTest, OtherConnectionsSeeExactlyTheCommittedChanges) {
  Database writer(path_, LogVfsName());
  Database reader(path_, LogVfsName());
  writer.Run("CREATE TABLE t(a)");
  writer.Run("BEGIN; INSERT INTO t VALUES(1)");
  EXPECT_EQ(reader.Number("SELECT count(*) FROM t"), 0);
  writer.Run("COMMIT");
  EXPECT_EQ(reader.Number("SELECT count(*) FROM t"), 1);
  writer.Run("BEGIN; INSERT INTO t VALUES(2); ROLLBACK");
  EXPECT_EQ(reader.Number("SELECT count(*) FROM t"), 1);
}

// A transaction larger than SQLite's cache: pages are written to the log before the commit, read
// back and written again.
TEST_F(LogVfsTest, SpilledTransactionsAreComplete) {
  {
    Database writer(path_, LogVfsName());
    writer.Run("PRAGMA cache_size=10; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
    writer.Run(
        "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500)"
        " INSERT INTO t SELECT i, zeroblob(3000) FROM n");
    writer.Run(
        "UPDATE t SET b = randomblob(3000) WHERE a % 7 = 0; SAVEPOINT s; DELETE FROM t WHERE a > "
        "300; ROLLBACK TO s");
    EXPECT_EQ(writer.Number("SELECT count(*) FROM t"), 500);
    writer.Run("ROLLBACK");
    EXPECT_EQ(writer.Number("SELECT count(*) FROM t"), 0);
    writer.Run(
        "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500)"
        " INSERT INTO t SELECT i, randomblob(3000) FROM n; UPDATE t SET b = randomblob(3000); "
        "COMMIT");
    writer.Run("PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES(501, 'after')");
  }
  Database plain(path_, nullptr);
  EXPECT_EQ(plain.Number("SELECT count(*) FROM t"), 501);
  EXPECT_EQ(plain.Number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
            1);
}

// A page that was spilled and then changed again is written in place, and SQLite corrects the
// checksums of the following frames after the commit frame. Regression: the last of these
// corrections was still in memory when the commit returned.
TEST_F(LogVfsTest, CorrectedFramesAreInTheFileWhenTheCommitReturns) {
  Database writer(path_, LogVfsName());
  writer.Run("PRAGMA cache_size=10; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
  writer.Run(
      "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300)"
      " INSERT INTO t SELECT i, randomblob(3000) FROM n; UPDATE t SET b = randomblob(3000); "
      "COMMIT");
  const std::string copy = directory_.path() + "/copy";
  std::filesystem::copy_file(path_, copy);
  std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
  Database plain(copy, nullptr);
  EXPECT_EQ(plain.Number("SELECT count(*) FROM t"), 300);
  EXPECT_EQ(plain.Number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
            1);
}

// An open log has commits, and its mark cannot be opened.
TEST_F(LogVfsTest, ACommitWhoseMarkCannotBeWrittenIsReported) {
  const auto first = Connection::Open(path_);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE((*first)->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)").ok());
  std::filesystem::remove(CommitMarkPath(path_));
  std::filesystem::create_directory(CommitMarkPath(path_));
  const auto second = Connection::Open(path_);
  ASSERT_TRUE(second.ok());
  const std::uint64_t before = DiagnosticCounts()["store.commit_mark_not_written"];
  EXPECT_TRUE((*second)->Execute("INSERT INTO t VALUES(1)").ok());
  EXPECT_EQ(DiagnosticCounts()["store.commit_mark_not_written"], before + 1);
}

// The log's file changes while connections are open.
class DamagedLogVfsTest : public LogVfsTest {
 protected:
  static constexpr std::int64_t kHeader = 32;
  static constexpr std::int64_t kFrameHeader = 24;
  static constexpr std::int64_t kPage = 4096;
  static constexpr std::int64_t kFrame = kFrameHeader + kPage;
  static std::int64_t FrameAt(std::int64_t number) { return kHeader + (number - 1) * kFrame; }

  std::int64_t frames() const {
    return (static_cast<std::int64_t>(std::filesystem::file_size(log_)) - kHeader) / kFrame;
  }
  void Flip(std::int64_t offset) const {
    std::fstream file(log_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const char byte = static_cast<char>(file.get());
    file.seekp(offset);
    file.put(static_cast<char>(byte ^ 0x08));
    ASSERT_TRUE(file.good());
  }
  // Fills the last frame's page, an overflow page, with 'x'.
  static void Fill(Database& writer) {
    writer.Run("CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
    writer.Run("INSERT INTO t VALUES(1, replace(hex(zeroblob(4000)), '00', 'xx'))");
  }
  static std::uint64_t Counted() { return DiagnosticCounts()["database.page_damaged"]; }

  const std::string log_ = path_ + "-wal";
};

constexpr char kReadAll[] = "SELECT sum(length(b)) FROM t";

TEST_F(DamagedLogVfsTest, AChangedByteOfAPageIsAnError) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  const std::uint64_t counted = Counted();
  const std::int64_t last = frames();
  Flip(FrameAt(last) + kFrameHeader + 2000);
  Database reader(path_, LogVfsName());
  EXPECT_EQ(reader.Code(kReadAll), SQLITE_IOERR_DATA);
  EXPECT_EQ(reader.Code(kReadAll), SQLITE_IOERR_DATA);
  EXPECT_EQ(Counted(), counted + 1) << "each page is reported once";
  EXPECT_EQ(writer.Checkpoint(), SQLITE_IOERR_DATA);
  EXPECT_EQ(reader.Code("SELECT a FROM t WHERE a > 5"), SQLITE_OK) << "other pages are read";
  // Frames after a damaged one cannot be recovered.
  EXPECT_EQ(writer.Code("INSERT INTO t VALUES(2, 'y')"), SQLITE_IOERR_DATA);
  EXPECT_EQ(reader.Number("SELECT count(*) FROM t WHERE a = 2"), 0);
}

TEST_F(DamagedLogVfsTest, ACheckpointDoesNotMoveAChangedByte) {
  {
    Database writer(path_, LogVfsName());
    Fill(writer);
    Flip(FrameAt(frames()) + kFrameHeader + 2000);
    EXPECT_EQ(writer.Checkpoint(), SQLITE_IOERR_DATA);
  }
  std::ifstream file(path_, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(content.find("xxpxx"), std::string::npos) << "'x' with the flipped bit is 'p'";
  EXPECT_TRUE(std::filesystem::exists(log_)) << "closing the database does not delete the log";
}

TEST_F(DamagedLogVfsTest, ReadsOfAnyPartOfAChangedFrameFail) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  const std::int64_t page = FrameAt(frames()) + kFrameHeader;
  struct {
    std::int64_t flip, offset;
    std::size_t size;
  } const cases[] = {
      {page + 2000, page, 4096},
      {page + 2000, page, 100},
      {page + 2000, page + 4000, 96},
      {page + 2000, page - 24, 4120},
      {page + 2000, page - 4096, 8192},
      {page - 8, page - 8, 8},
      {page - 24, page - 8, 8},
      {page - 1, page - 24, 4120},
      {0, 0, 32},
      {31, 24, 8},
      {16, 0, 56},
  };
  for (const auto& [flip, offset, size] : cases) {
    std::string bytes(size, '?');
    EXPECT_EQ(writer.ReadLog(offset, bytes), SQLITE_OK) << offset << " + " << size;
    std::ifstream file(log_, std::ios::binary);
    file.seekg(offset);
    std::string right(size, '\0');
    file.read(right.data(), static_cast<std::streamsize>(size));
    EXPECT_TRUE(bytes == right) << offset << " + " << size;
    Flip(flip);
    EXPECT_EQ(writer.ReadLog(offset, bytes), SQLITE_IOERR_DATA) << offset << " + " << size;
    Flip(flip);
  }
}

TEST_F(DamagedLogVfsTest, AReadBeyondTheEndOfACutLogIsAnError) {
  for (const std::int64_t cut : {1, 1000, 4096, 4100, 5000, 1 << 20}) {
    const std::string copy = path_ + std::to_string(cut);
    Database writer(copy, LogVfsName());
    Fill(writer);
    Database reader(copy, LogVfsName());
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(copy + "-wal"));
    std::filesystem::resize_file(
        copy + "-wal", static_cast<std::uintmax_t>(std::max<std::int64_t>(size - cut, 0)));
    EXPECT_EQ(reader.Code(kReadAll), SQLITE_IOERR_DATA) << cut;
    EXPECT_EQ(writer.Checkpoint(), SQLITE_IOERR_DATA) << cut;
    EXPECT_EQ(writer.Code("INSERT INTO t VALUES(2, 'y')"), SQLITE_IOERR_DATA) << cut;
  }
}

TEST_F(DamagedLogVfsTest, FramesThatWereRecoveredAtTheStartAreVerified) {
  {
    Database writer(path_, LogVfsName());
    Fill(writer);
    writer.KeepLog();
  }
  Database writer(path_, LogVfsName());
  ASSERT_EQ(writer.Number("SELECT count(*) FROM sqlite_schema"), 1) << "recovers the log";
  Flip(FrameAt(frames()) + kFrameHeader + 2000);
  EXPECT_EQ(writer.Code(kReadAll), SQLITE_IOERR_DATA);
  EXPECT_EQ(writer.Checkpoint(), SQLITE_IOERR_DATA);
}

TEST_F(DamagedLogVfsTest, OldFramesOfARestartedLogAreNotReported) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  const std::int64_t last = frames();
  ASSERT_EQ(writer.Checkpoint(), SQLITE_OK);
  writer.Run("INSERT INTO t VALUES(2, 'x')");  // overwrites the first frames
  Flip(FrameAt(last) + kFrameHeader + 2000);
  Database reader(path_, LogVfsName());
  EXPECT_EQ(reader.Code(kReadAll), SQLITE_OK);
  EXPECT_EQ(writer.Checkpoint(), SQLITE_OK);
  writer.Run("INSERT INTO t VALUES(3, 'x')");
  Flip(FrameAt(1) + kFrameHeader + 2000);
  Database second(path_, LogVfsName());
  EXPECT_EQ(second.Code(kReadAll), SQLITE_IOERR_DATA);
}

TEST_F(DamagedLogVfsTest, ACheckpointMovesNothingAfterARequestFoundDamage) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  const auto size = std::filesystem::file_size(path_);
  Database reader(path_, LogVfsName());
  Flip(FrameAt(frames()) + kFrameHeader + 2000);
  ASSERT_EQ(reader.Code(kReadAll), SQLITE_IOERR_DATA);
  EXPECT_EQ(writer.Checkpoint(), SQLITE_IOERR_DATA);
  EXPECT_EQ(std::filesystem::file_size(path_), size);
}

TEST_F(DamagedLogVfsTest, WritesContinueIfTheDatabaseFileHasAllPages) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  Database reader(path_, LogVfsName());
  reader.Run("BEGIN; SELECT count(*) FROM sqlite_schema");
  ASSERT_EQ(writer.Checkpoint(), SQLITE_OK);
  Flip(FrameAt(frames()) + kFrameHeader + 2000);
  EXPECT_EQ(reader.Code(kReadAll), SQLITE_IOERR_DATA) << "a transaction that needs the log";
  EXPECT_EQ(reader.Number(kReadAll), 8000) << "the error ended it; this one reads the file";
  writer.Run("INSERT INTO t VALUES(2, 'xx')");
  EXPECT_EQ(reader.Number(kReadAll), 8002);
  EXPECT_EQ(writer.Checkpoint(), SQLITE_OK);
}

TEST_F(DamagedLogVfsTest, ATruncationByACheckpointIsNotReportedAsDamage) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  writer.Run("PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_EQ(std::filesystem::file_size(log_), 0u);
  std::string header(kHeader, '?');
  EXPECT_EQ(writer.ReadLog(0, header), SQLITE_IOERR_SHORT_READ);
  EXPECT_EQ(writer.Number(kReadAll), 8000);
}

// SQLite reads the frames of a transaction that wrote one of its pages twice, and computes their
// checksums again. Without a verification the changed byte would get a valid checksum.
TEST_F(DamagedLogVfsTest, ACommitDoesNotCorrectTheChecksumOfAChangedFrame) {
  Database writer(path_, LogVfsName());
  writer.Run("PRAGMA cache_size=10; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
  writer.Run(
      "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300)"
      " INSERT INTO t SELECT i, randomblob(3000) FROM n; UPDATE t SET b = randomblob(3000)");
  Flip(FrameAt(frames() / 2) + kFrameHeader + 2000);
  EXPECT_EQ(writer.Code("COMMIT"), SQLITE_IOERR_DATA);
  Database reader(path_, LogVfsName());
  EXPECT_EQ(reader.Number("SELECT count(*) FROM t"), 0);
}

TEST_F(DamagedLogVfsTest, AFailedWriteIsNotReportedAsDamage) {
  Database writer(path_, LogVfsName());
  Fill(writer);
  const std::int64_t last = frames();
  const std::uint64_t counted = Counted();
  {
    const testing::FullDisk full(std::filesystem::file_size(log_) + 1000);
    EXPECT_NE(writer.Code("INSERT INTO t VALUES(2, zeroblob(20000))"), SQLITE_OK);
  }
  std::string frame(kFrame, '?');
  EXPECT_EQ(writer.ReadLog(FrameAt(last + 1), frame), SQLITE_IOERR_SHORT_READ);
  writer.Run("INSERT INTO t VALUES(3, 'x')");
  Database reader(path_, LogVfsName());
  EXPECT_EQ(reader.Number("SELECT count(*) FROM t"), 2);
  EXPECT_EQ(writer.Checkpoint(), SQLITE_OK);
  EXPECT_EQ(Counted(), counted);
}

}  // namespace
}  // namespace penstock::emulator::store
