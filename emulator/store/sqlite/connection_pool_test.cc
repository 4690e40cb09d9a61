#include "emulator/store/sqlite/connection_pool.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <optional>
#include <thread>

namespace penstock::emulator::store {
namespace {

TEST(ConnectionPool, OpensConnectionsWhenNeededAndReusesThem) {
  int opened = 0;
  ConnectionPool pool(2, [&] {
    ++opened;
    return Connection::Open(":memory:");
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.Take().ok());
  EXPECT_EQ(opened, 1);
  const auto first = pool.Take();
  const auto second = pool.Take();
  EXPECT_EQ(opened, 2);
}

TEST(ConnectionPool, WaitsForAReturnedConnection) {
  auto only = Connection::Open(":memory:");
  ASSERT_TRUE(only.ok());
  ConnectionPool pool(std::move(only).value());
  auto held = std::make_optional(pool.Take());
  bool got = false;
  std::thread waiter([&] { got = pool.Take().ok(); });
  held.reset();
  waiter.join();
  EXPECT_TRUE(got);
}

// A rollback can fail when a connection is returned and memory has run out. The next caller must
// not see the transaction.
TEST(ConnectionPool, RetriesAFailedRollback) {
  ConnectionPool pool(1, [] { return Connection::Open(":memory:"); });
  sqlite3* handle = nullptr;
  {
    const auto lease = pool.Take();
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE((**lease).Execute("BEGIN").ok());
    handle = (**lease).handle();
    const auto refuse = [](void*, int action, const char*, const char*, const char*, const char*) {
      return action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK;
    };
    sqlite3_set_authorizer(handle, refuse, nullptr);
  }
  EXPECT_FALSE(pool.Take().ok());
  sqlite3_set_authorizer(handle, nullptr, nullptr);
  const auto lease = pool.Take();
  ASSERT_TRUE(lease.ok());
  EXPECT_FALSE((**lease).InTransaction());
}

TEST(ConnectionPool, AFailedOpenDoesNotReduceTheLimit) {
  int calls = 0;
  ConnectionPool pool(1, [&]() -> Result<std::unique_ptr<Connection>> {
    if (++calls == 1) return Error::Make(ErrorKind::kResourceExhausted, "no");
    return Connection::Open(":memory:");
  });
  EXPECT_FALSE(pool.Take().ok());
  EXPECT_TRUE(pool.Take().ok());
}

}  // namespace
}  // namespace penstock::emulator::store
