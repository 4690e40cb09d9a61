#include "emulator/store/sqlite/migrations.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace penstock::emulator::store {
namespace {

class MigrationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Connection::Open(":memory:");
    ASSERT_TRUE(opened.ok());
    connection_ = std::move(opened).value();
    ASSERT_TRUE(
        connection_->Execute("CREATE TABLE t(a); INSERT INTO t VALUES(1); PRAGMA user_version=1")
            .ok());
  }
  std::int64_t Sum() {
    Query query(*connection_, "SELECT sum(a) FROM t");
    EXPECT_TRUE(*query.Step());
    return query.Int(0);
  }
  std::unique_ptr<Connection> connection_;
};

TEST_F(MigrationsTest, RunsNewerMigrationsInOrder) {
  const std::array<Migration, 3> steps{
      {{1, "DELETE FROM t"}, {2, "UPDATE t SET a = a + 1"}, {3, "UPDATE t SET a = a * 10"}}};
  ASSERT_TRUE(Migrate(*connection_, steps).ok());
  EXPECT_EQ(Sum(), 20);
  EXPECT_EQ(*SchemaVersionOf(*connection_), 3);
  ASSERT_TRUE(Migrate(*connection_, steps).ok());
  EXPECT_EQ(Sum(), 20) << "a step ran twice";
}

TEST_F(MigrationsTest, AFailedMigrationKeepsThePreviousVersion) {
  const std::array<Migration, 3> steps{{{2, "UPDATE t SET a = 5"},
                                        {3, "UPDATE t SET a = 9; INSERT INTO missing VALUES(1)"},
                                        {4, ""}}};
  EXPECT_FALSE(Migrate(*connection_, steps).ok());
  EXPECT_EQ(Sum(), 5);
  EXPECT_EQ(*SchemaVersionOf(*connection_), 2);
  EXPECT_FALSE(connection_->InTransaction());
}

TEST_F(MigrationsTest, ANewerDatabaseIsUnchanged) {
  ASSERT_TRUE(connection_->Execute("PRAGMA user_version=9").ok());
  const std::array<Migration, 1> steps{{{2, "DELETE FROM t"}}};
  ASSERT_TRUE(Migrate(*connection_, steps).ok());
  EXPECT_EQ(Sum(), 1);
  EXPECT_EQ(*SchemaVersionOf(*connection_), 9);
}

}  // namespace
}  // namespace penstock::emulator::store
