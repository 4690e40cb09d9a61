#include "emulator/store/sqlite/database_creation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "emulator/store/store_testing.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: test helpers

constexpr char kSchema[] = "CREATE TABLE t(x); PRAGMA user_version=1";

class DatabaseCreationTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/penstock.db";
};

TEST_F(DatabaseCreationTest, CreatesTheFileWithItsTables) {
  ASSERT_TRUE(CreateDatabaseFile(path_, kSchema).ok());
  const auto connection = Connection::Open(path_).value();
  EXPECT_TRUE(connection->HasPageChecksums());
  EXPECT_TRUE(Query(*connection, "INSERT INTO t VALUES(1)").Run().ok());
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(DatabaseCreationTest, AFailureLeavesNoFile) {
  EXPECT_FALSE(CreateDatabaseFile(path_, "CREATE TABLE t(x); CREATE TABLE t(x)").ok());
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(DatabaseCreationTest, ANonEmptyFileIsUnchanged) {
  std::ofstream(path_) << "bytes";
  EXPECT_TRUE(CreateDatabaseFile(path_, kSchema).ok());
  EXPECT_EQ(fs::file_size(path_), 5U);
}

TEST_F(DatabaseCreationTest, LeftoversOfAnInterruptedCreationAreIgnored) {
  std::ofstream{path_};
  std::ofstream(path_ + ".new") << std::string(100, 'x');
  std::ofstream(path_ + "-wal");
  // A rollback journal written before the first page of an empty database: it would truncate
  // the database to zero bytes.
  std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  journal += std::string(12, '\0') + std::string("\0\0\2\0\0\0\x10\0", 8);
  journal.resize(512);
  std::ofstream(path_ + "-journal") << journal;
  const auto database = OpenDatabase(path_, Durability::kRelaxed);
  ASSERT_TRUE(database.ok()) << database.error().ToString();
  EXPECT_TRUE(ReserveNumbers(**database).ok());
  EXPECT_FALSE(fs::exists(path_ + "-journal"));
}

TEST_F(DatabaseCreationTest, AStoreIsUnfinishedUntilItsDatabaseIsComplete) {
  EXPECT_TRUE(IsUnfinishedStore(directory_.path()));
  EXPECT_TRUE(IsUnfinishedStore(directory_.path() + "/missing"));
  std::ofstream{path_};
  std::ofstream(path_ + "-wal");
  EXPECT_TRUE(IsUnfinishedStore(directory_.path())) << "state left by earlier builds";
  std::ofstream(path_) << std::string(4096, '\0');
  std::ofstream(path_ + "-mark") << std::string(4096, '\0');
  EXPECT_TRUE(IsUnfinishedStore(directory_.path()))
      << "state left by earlier builds, with one page";
  fs::remove(path_);
  fs::remove(path_ + "-mark");
  ASSERT_TRUE(CreateDatabaseFile(path_, kSchema).ok());
  EXPECT_FALSE(IsUnfinishedStore(directory_.path()));
}

TEST_F(DatabaseCreationTest, AStoreThatLostItsDatabaseIsNotUnfinished) {
  MakeBucket(*OpenStore({.directory = directory_.path()}));
  EXPECT_EQ(StateOfStore(directory_.path()), StoreState::kHasDatabase);
  fs::remove(path_);
  EXPECT_EQ(StateOfStore(directory_.path()), StoreState::kLostDatabase);
  fs::remove_all(directory_.path() + "/blobs");
  EXPECT_FALSE(IsUnfinishedStore(directory_.path())) << "the commit mark exists";
}

}  // namespace
}  // namespace penstock::emulator::store
