#include "emulator/store/schema.h"

#include <gtest/gtest.h>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

TEST(Schema, ANewDatabaseCarriesItsVersion) {
  const auto database = OpenDatabase(":memory:", Durability::kRelaxed);
  ASSERT_TRUE(database.ok());
  Query query(**database, "PRAGMA user_version");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), kSchemaVersion);
}

TEST(Schema, ReservedNumbersNeverMeet) {
  const auto database = OpenDatabase(":memory:", Durability::kRelaxed);
  const auto first = ReserveNumbers(**database);
  const auto second = ReserveNumbers(**database);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GE(*first, 1);
  EXPECT_EQ(*second - *first, std::int64_t{1} << 40);
}

TEST(Schema, DurabilityChoosesHowACommitIsSynced) {
  const testing::TemporaryDirectory directory;
  for (const auto& [durability, expected] : {std::pair{Durability::kRelaxed, 1}, std::pair{Durability::kStrict, 2}}) {
    const auto database = OpenDatabase(directory.path() + "/db", durability);
    ASSERT_TRUE(database.ok());
    Query query(**database, "PRAGMA synchronous");  // 1 NORMAL, 2 FULL
    ASSERT_TRUE(*query.Step());
    EXPECT_EQ(query.Int(0), expected);
  }
}

TEST(Schema, ReadersCannotWrite) {
  const testing::TemporaryDirectory directory;
  const auto writer = OpenDatabase(directory.path() + "/db", Durability::kRelaxed);
  const auto reader = OpenReader(directory.path() + "/db");
  ASSERT_TRUE(writer.ok() && reader.ok());
  EXPECT_FALSE((*reader)->Execute("DELETE FROM buckets").ok());
}

}  // namespace
}  // namespace penstock::emulator::store
