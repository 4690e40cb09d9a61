#include "emulator/store/tables/row_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace penstock::emulator::store {
namespace {

std::unique_ptr<Connection> OpenTable() {
  auto opened = Connection::Open(":memory:");
  EXPECT_TRUE(opened.ok());
  EXPECT_TRUE((*opened)->Execute("PRAGMA auto_vacuum=FULL; CREATE TABLE t(a)").ok());
  return std::move(opened).value();
}

// Inserts rows of 1 KiB until one is rejected. Returns their number.
int Fill(RowMemory& memory, Connection& connection) {
  int rows = 0;
  for (; rows < 10'000 && memory.Admit(connection).ok(); ++rows) {
    EXPECT_TRUE(connection.Execute("INSERT INTO t VALUES(zeroblob(1024))").ok());
  }
  return rows;
}

TEST(RowMemory, ChargesPagesAndRejectsRowsOverTheLimit) {
  MemoryLimit limit(4 << 20);
  const auto connection = OpenTable();
  RowMemory memory(&limit);
  const int rows = Fill(memory, *connection);
  EXPECT_GT(rows, 2'000);
  EXPECT_LT(rows, 4'100);
  EXPECT_LE(limit.used_bytes(), limit.limit_bytes());
  const auto refused = memory.Admit(*connection);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "InsufficientStorage");
  EXPECT_NE(refused.error().message.find(
                "3.9 MiB are in use, 0.1 MiB more are needed, and 0.1 MiB are a reserve"),
            std::string::npos)
      << refused.error().message;
}

TEST(RowMemory, AdmitsRowsIntoPagesThatDeletionsFreed) {
  MemoryLimit limit(4 << 20);
  const auto connection = OpenTable();
  RowMemory memory(&limit);
  Fill(memory, *connection);
  ASSERT_TRUE(connection->Execute("DELETE FROM t").ok());
  EXPECT_GT(Fill(memory, *connection), 1'000);
}

TEST(RowMemory, AdmitsEverythingWithoutALimit) {
  const auto connection = OpenTable();
  RowMemory memory(nullptr);
  EXPECT_TRUE(memory.Admit(*connection).ok());
}

}  // namespace
}  // namespace penstock::emulator::store
