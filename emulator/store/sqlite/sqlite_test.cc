#include "emulator/store/sqlite/sqlite.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <set>
#include <vector>

#include "base/log/diagnostics.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

class SqliteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::Open(":memory:");
    ASSERT_TRUE(opened.ok());
    connection_ = std::move(opened).value();
    ASSERT_TRUE(connection_->Execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)").ok());
  }
  std::unique_ptr<Connection> connection_;
};

TEST_F(SqliteTest, ReturnsStoredValues) {
  const std::string bytes("\0x\xFF", 3);
  ASSERT_TRUE(
      Query(*connection_, "INSERT INTO t VALUES(?,?)").Bind(1LL << 60).BindBytes(bytes).Run().ok());
  ASSERT_TRUE(Query(*connection_, "INSERT INTO t VALUES(?,?)").Bind(-1).BindNull().Run().ok());
  Query query(*connection_, "SELECT a, b FROM t ORDER BY a");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), -1);
  EXPECT_TRUE(query.IsNull(1));
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), 1LL << 60);
  EXPECT_EQ(query.Bytes(1), bytes);
  EXPECT_FALSE(*query.Step());
}

TEST_F(SqliteTest, AnEmptyValueIsNotNull) {
  ASSERT_TRUE(Query(*connection_, "INSERT INTO t VALUES(?,?)").Bind(1).BindBytes("").Run().ok());
  Query query(*connection_, "SELECT b FROM t");
  ASSERT_TRUE(*query.Step());
  EXPECT_FALSE(query.IsNull(0));
  EXPECT_EQ(query.Bytes(0), "");
}

TEST_F(SqliteTest, TheErrorOfAnInvalidStatementNamesTheDatabase) {
  const auto result = Query(*connection_, "SELECT nothing FROM nowhere").Step();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  EXPECT_NE(result.error().message.find(":memory:"), std::string::npos);
}

TEST_F(SqliteTest, ReportsWhetherATransactionIsOpen) {
  EXPECT_FALSE(connection_->InTransaction());
  ASSERT_TRUE(connection_->Execute("BEGIN").ok());
  EXPECT_TRUE(connection_->InTransaction());
}

TEST(Sqlite, ReportsTheLengthOfTheLogAfterEachCommit) {
  const testing::TemporaryDirectory directory;
  const auto opened = Connection::Open(directory.path() + "/db");
  ASSERT_TRUE(opened.ok());
  Connection& connection = **opened;
  ASSERT_TRUE(connection.Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)").ok());
  std::vector<int> lengths;
  connection.OnCommit([&](int pages) { lengths.push_back(pages); });
  ASSERT_TRUE(connection.Execute("INSERT INTO t VALUES(1)").ok());
  ASSERT_TRUE(connection.Execute("INSERT INTO t VALUES(2)").ok());
  ASSERT_EQ(lengths.size(), 2u);
  EXPECT_GT(lengths[1], lengths[0]);
  ASSERT_TRUE(connection.Checkpoint().ok());
  ASSERT_TRUE(connection.Execute("INSERT INTO t VALUES(3)").ok());
  EXPECT_LT(lengths[2], lengths[1]) << "the log was restarted";
}

TEST(Sqlite, OtherUsersCannotReadADatabase) {
  namespace fs = std::filesystem;
  const testing::TemporaryDirectory folder;
  const fs::path path = fs::path(folder.path()) / "test.db";
  const auto modes = [&] {
    const auto connection = Connection::Open(path.string());
    EXPECT_TRUE(connection.ok());
    EXPECT_TRUE((*connection)
                    ->Execute("PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS t(a);"
                              "INSERT INTO t VALUES(1)")
                    .ok());
    std::set<fs::perms> found;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      found.insert(entry.status().permissions());
    return found;
  };
  const std::set<fs::perms> expected{fs::perms::owner_read | fs::perms::owner_write};
  EXPECT_EQ(modes(), expected);
  fs::permissions(path, fs::perms::others_read, fs::perm_options::add);  // as by SQLite itself
  EXPECT_EQ(modes(), expected);
}

TEST(Sqlite, CountsChangesThatAreRolledBack) {
  const auto opened = Connection::Open(":memory:");
  ASSERT_TRUE(opened.ok());
  Connection& connection = **opened;
  ASSERT_TRUE(connection.Execute("CREATE TABLE t(a)").ok());
  const std::int64_t before = connection.Changes();
  ASSERT_TRUE(connection.Execute("BEGIN; INSERT INTO t VALUES(1); ROLLBACK").ok());
  EXPECT_EQ(connection.Changes() - before, 1);
}

TEST(Sqlite, ReadingAnImmutableDatabaseCreatesNoFiles) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/50%?#.db";
  {
    const auto writer = Connection::Open(path).value();
    writer->AllowLogRemoval();
    ASSERT_TRUE(
        writer->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(7)")
            .ok());
  }
  const auto count_files = [&directory] {
    return std::distance(std::filesystem::directory_iterator(directory.path()), {});
  };
  const auto files = count_files();  // the database and its mark
  const auto opened = Connection::Open(path, Connection::Access::kImmutable);
  ASSERT_TRUE(opened.ok());
  Query query(**opened, "SELECT a FROM t");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), 7);
  EXPECT_FALSE((*opened)->Execute("INSERT INTO t VALUES(8)").ok());
  EXPECT_EQ(count_files(), files);
}

TEST(ConnectionTest, RollsBackAnOpenTransaction) {
  const auto connection = Connection::Open(":memory:");
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE((*connection)->Execute("CREATE TABLE t(a); BEGIN; INSERT INTO t VALUES(1)").ok());
  (*connection)->RollBack();
  EXPECT_FALSE((*connection)->InTransaction());
  (*connection)->RollBack();  // nothing is open
  EXPECT_TRUE((*connection)->Execute("BEGIN; COMMIT").ok());
}

TEST(ConnectionTest, AFailedRollbackIsReported) {
  const auto connection = Connection::Open(":memory:");
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE((*connection)->Execute("BEGIN").ok());
  const auto refuse = [](void*, int action, const char*, const char*, const char*, const char*) {
    return action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK;
  };
  sqlite3_set_authorizer((*connection)->handle(), refuse, nullptr);
  const std::uint64_t before = DiagnosticCounts()["store.rollback_failed"];
  (*connection)->RollBack();
  EXPECT_EQ(DiagnosticCounts()["store.rollback_failed"], before + 1);
}

TEST(ConnectionTest, AFailedCheckpointOfACommitIsReported) {
  const testing::TemporaryDirectory directory;
  const auto connection = Connection::Open(directory.path() + "/db");
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE((*connection)->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)").ok());
  sqlite3_file* file = nullptr;
  ASSERT_EQ(sqlite3_file_control((*connection)->handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file),
            SQLITE_OK);
  const sqlite3_io_methods* const intact = file->pMethods;
  sqlite3_io_methods failing = *intact;
  failing.xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) {
    return SQLITE_IOERR_WRITE;
  };
  file->pMethods = &failing;
  const std::uint64_t before = DiagnosticCounts()["store.checkpoint_failed"];
  // More than the 1000 pages after which a commit moves the log to the database.
  EXPECT_TRUE((*connection)->Execute("INSERT INTO t VALUES(zeroblob(5000000))").ok());
  file->pMethods = intact;
  EXPECT_EQ(DiagnosticCounts()["store.checkpoint_failed"], before + 1);
}

TEST(ConnectionTest, ClosingKeepsTheLogUntilItsRemovalIsAllowed) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  {
    const auto connection = Connection::Open(path);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->Execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a)").ok());
  }
  ASSERT_GT(std::filesystem::file_size(path + "-wal"), 0u);
  {
    const auto connection = Connection::Open(path);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->Execute("INSERT INTO t VALUES(1)").ok());
    (*connection)->AllowLogRemoval();
  }
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  const auto connection = Connection::Open(path);
  ASSERT_TRUE(connection.ok());
  Query query(**connection, "SELECT a FROM t");
  EXPECT_TRUE(*query.Step());
}

}  // namespace
}  // namespace penstock::emulator::store
