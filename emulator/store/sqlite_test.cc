#include "emulator/store/sqlite.h"

#include <gtest/gtest.h>

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

TEST_F(SqliteTest, ValuesComeBack) {
  const std::string bytes("\0x\xFF", 3);
  ASSERT_TRUE(Query(*connection_, "INSERT INTO t VALUES(?,?)").Bind(1LL << 60).BindBytes(bytes).Run().ok());
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

TEST_F(SqliteTest, AWrongStatementIsAnErrorThatNamesTheDatabase) {
  const auto result = Query(*connection_, "SELECT nothing FROM nowhere").Step();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  EXPECT_NE(result.error().message.find(":memory:"), std::string::npos);
}

TEST_F(SqliteTest, KnowsWhetherATransactionIsOpen) {
  EXPECT_FALSE(connection_->InTransaction());
  ASSERT_TRUE(connection_->Execute("BEGIN").ok());
  EXPECT_TRUE(connection_->InTransaction());
}

}  // namespace
}  // namespace penstock::emulator::store
