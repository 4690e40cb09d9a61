#include "emulator/store/sqlite/log_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/log/diagnostics.h"
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
  std::int64_t Number(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
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

}  // namespace
}  // namespace penstock::emulator::store
