#include "emulator/store/tables/object_rows.h"

#include <gtest/gtest.h>

#include <limits>

#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

class ObjectRowsTest : public ::testing::Test {
 protected:
  static ObjectRow Row(const std::string& key, std::int64_t newest_first,
                       const std::string& version) {
    ObjectRow row;
    row.record.key = ObjectKey(key);
    row.record.version_id = VersionId(version);
    row.newest_first = newest_first;
    row.slices = "slices";
    return row;
  }
  std::unique_ptr<Connection> database_ = OpenDatabase(":memory:", Durability::kRelaxed).value();
  Connection& db_ = *database_;
};

TEST_F(ObjectRowsTest, RoundTripsARow) {
  ObjectRow row = Row("key", -5, "v");
  row.record.size = 1ULL << 40;
  row.record.tags = {{"a", "b"}};
  row.record.parts = {{1, 2, ETag("e"), "c", WallTime{}}};
  ASSERT_TRUE(PutCurrent(db_, 1, row).ok());
  const auto found = FindCurrent(db_, 1, "key");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->newest_first, -5);
  EXPECT_EQ((*found)->slices, "slices");
  EXPECT_EQ((*found)->record.size, 1ULL << 40);
  EXPECT_EQ((*found)->record.tags, row.record.tags);
  EXPECT_EQ((*found)->record.parts.size(), 1u);
  EXPECT_FALSE(FindCurrent(db_, 2, "key")->has_value());  // another bucket
}

TEST_F(ObjectRowsTest, ArchivingAndPromotingMoveTheRow) {
  ASSERT_TRUE(PutCurrent(db_, 1, Row("key", -5, "v")).ok());
  ASSERT_TRUE(ArchiveCurrent(db_, 1, "key").ok());
  EXPECT_FALSE(FindCurrent(db_, 1, "key")->has_value());
  EXPECT_TRUE(FindArchived(db_, 1, "key", "v")->has_value());
  ASSERT_TRUE(PromoteArchived(db_, 1, "key", -5).ok());
  EXPECT_TRUE(FindCurrent(db_, 1, "key")->has_value());
  EXPECT_FALSE(FindArchived(db_, 1, "key", "v")->has_value());
}

TEST_F(ObjectRowsTest, TheNewestArchivedComesFirst) {
  ASSERT_TRUE(PutArchived(db_, 1, Row("key", -5, "old")).ok());
  ASSERT_TRUE(PutArchived(db_, 1, Row("key", -9, "new")).ok());
  EXPECT_EQ((*FindNewestArchived(db_, 1, "key"))->record.version_id.value, "new");
  ArchivedCursor cursor(db_, 1);
  TextArena text;
  ASSERT_TRUE(cursor.Seek("key", std::numeric_limits<std::int64_t>::min()).ok());
  EXPECT_EQ(cursor.Entry(text, {}).version_id, "new");
  ASSERT_TRUE(cursor.Next().ok());
  EXPECT_EQ(cursor.Entry(text, {}).version_id, "old");
  ASSERT_TRUE(cursor.Next().ok());
  EXPECT_TRUE(cursor.AtEnd());
}

TEST_F(ObjectRowsTest, ACursorSeeksInUnsignedByteOrder) {
  for (const char* key : {"a", "b", "\xC3\xA9"})
    ASSERT_TRUE(PutCurrent(db_, 1, Row(key, -1, "null")).ok());
  CurrentCursor cursor(db_, 1);
  ASSERT_TRUE(cursor.Seek("c").ok());
  EXPECT_EQ(cursor.key(), "\xC3\xA9");
  ASSERT_TRUE(cursor.Seek("b").ok());
  EXPECT_EQ(cursor.key(), "b");
}

TEST_F(ObjectRowsTest, KeepsTheLatestCompletions) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(
        RecordCompleted(db_, 1, "upload" + std::to_string(i), Row("key", -i, "null"), 3).ok());
  }
  EXPECT_FALSE(FindCompletedRow(db_, 1, "key", "upload1")->has_value());
  EXPECT_TRUE(FindCompletedRow(db_, 1, "key", "upload2")->has_value());
  EXPECT_TRUE(FindCompletedRow(db_, 1, "key", "upload4")->has_value());
}

}  // namespace
}  // namespace penstock::emulator::store
