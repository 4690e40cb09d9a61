#include "emulator/store/tables/schema.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

TEST(Schema, ANewDatabaseHasTheCurrentVersion) {
  const auto database = OpenDatabase(":memory:", Durability::kRelaxed);
  ASSERT_TRUE(database.ok());
  Query query(**database, "PRAGMA user_version");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), kSchemaVersion);
}

TEST(Schema, ANewDatabaseIsCreatedUnderAnotherNameAndRenamed) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  std::ofstream(path + ".new") << "left by a killed start";
  const auto database = OpenDatabase(path, Durability::kRelaxed);
  ASSERT_TRUE(database.ok()) << database.error().message;
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  EXPECT_TRUE((*database)->HasPageChecksums());
  Query query(**database, "PRAGMA journal_mode");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Bytes(0), "wal");
  // The tables are in the file, not only in a log.
  EXPECT_TRUE(OpenForInspection(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path + "-wal") &&
               std::filesystem::file_size(path + "-wal") > 0);
}

TEST(Schema, ALogWithoutItsDatabaseIsNotAppliedToANewOne) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  {
    const auto lost = OpenDatabase(directory.path() + "/lost", Durability::kRelaxed);
    ASSERT_TRUE((*lost)->Execute("UPDATE numbers SET next = 4711").ok());
    std::filesystem::copy_file(directory.path() + "/lost-wal", path + "-wal");
  }
  const auto database = OpenDatabase(path, Durability::kRelaxed);
  if (!database.ok()) return;  // rejected: nothing is mixed in this case either
  Query query(**database, "SELECT next FROM numbers");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), 1);
}

TEST(Schema, ReservedRangesDoNotOverlap) {
  const auto database = OpenDatabase(":memory:", Durability::kRelaxed);
  const auto first = ReserveNumbers(**database);
  const auto second = ReserveNumbers(**database);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GE(*first, 1);
  EXPECT_EQ(*second - *first, std::int64_t{1} << 40);
}

TEST(Schema, DurabilitySetsTheSynchronousMode) {
  const testing::TemporaryDirectory directory;
  for (const auto& [durability, expected] :
       {std::pair{Durability::kRelaxed, 1}, std::pair{Durability::kStrict, 2}}) {
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

TEST(Schema, AForeignDatabaseIsRejected) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  ASSERT_TRUE((*Connection::Open(path))->Execute("CREATE TABLE other(a)").ok());
  const auto database = OpenDatabase(path, Durability::kRelaxed);
  ASSERT_FALSE(database.ok());
  EXPECT_EQ(database.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(database.error().message.find(path), std::string::npos);
}

TEST(Schema, TheErrorForANewerVersionNamesBothVersions) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  ASSERT_TRUE((*OpenDatabase(path, Durability::kRelaxed))->Execute("PRAGMA user_version=99").ok());
  for (const auto& refused :
       {OpenDatabase(path, Durability::kRelaxed).error(), OpenForInspection(path).error()}) {
    EXPECT_EQ(refused.kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(refused.message.find("version 99"), std::string::npos);
    EXPECT_NE(refused.message.find("uses version " + std::to_string(kSchemaVersion)),
              std::string::npos);
  }
}

TEST(Schema, AnInspectionIsReadOnlyAndReadsTheLog) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/db";
  const auto writer = OpenDatabase(path, Durability::kRelaxed);
  // The change is still in the log, because the database is open.
  ASSERT_TRUE((*writer)->Execute("UPDATE numbers SET next = 4711").ok());
  const auto inspection = OpenForInspection(path);
  ASSERT_TRUE(inspection.ok());
  Query query(**inspection, "SELECT next FROM numbers");
  ASSERT_TRUE(*query.Step());
  EXPECT_EQ(query.Int(0), 4711);
  EXPECT_FALSE((*inspection)->Execute("UPDATE numbers SET next = 1").ok());
}

}  // namespace
}  // namespace penstock::emulator::store
