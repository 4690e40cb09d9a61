#include "emulator/server/process/fsck_command.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulator/identity/user_database.h"
#include "emulator/server/namespaces/data_directory.h"
#include "emulator/store/store.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

class FsckCommandTest : public ::testing::Test {
 protected:
  FsckCommandTest() {
    std::string name = (fs::temp_directory_path() / "penstock-fsck-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~FsckCommandTest() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  // Creates a store with one object in its own file.
  void MakeStore(const std::string& name) {
    auto store = store::Store::Open({.directory = path_ + "/" + name});
    ASSERT_TRUE(store.ok()) << store.error().ToString();
    store::BucketRecord bucket;
    bucket.name = BucketName("bucket");
    ASSERT_TRUE((*store)->CreateBucket(bucket).ok());
    auto writer = (*store)->NewBlob(0);
    ASSERT_TRUE((*writer)->Append(AsBytes(std::string(100'000, 'x'))).ok());
    store::PutObject put;
    put.bucket = bucket.name;
    put.record.key = ObjectKey("caf\xC3\xA9 \xFF");
    put.record.size = 100'000;
    put.record.content = std::move((*writer)->Finish()).value();
    ASSERT_TRUE((*store)->Put(std::move(put)).ok());
  }
  void RemoveBlobFiles(const std::string& name) { fs::remove_all(path_ + "/" + name + "/blobs"); }

  std::string path_;
};

TEST_F(FsckCommandTest, CleanDirectoryIsStatus0) {
  MakeStore("generation-1");
  const FsckOutcome outcome = RunFsck({path_, "--deep"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.error;
  EXPECT_NE(outcome.out.find("generation-1: clean, 1 buckets, 1 versions"), std::string::npos);
}

// A stopping emulator closes its stores before the users database and the directory.
TEST_F(FsckCommandTest, DirectoryOfAStoppingEmulatorIsNotChecked) {
  MakeStore("generation-1");
  const auto directory = DataDirectory::Open(path_);
  ASSERT_TRUE(directory.ok());
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.error.find("in use"), std::string::npos) << outcome.error;
}

TEST_F(FsckCommandTest, DamageIsStatus1AndNamed) {
  MakeStore("generation-1");
  RemoveBlobFiles("generation-1");
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("damage: " + path_ + "/generation-1/blobs/"), std::string::npos)
      << outcome.out;
}

TEST_F(FsckCommandTest, JsonIsOneObject) {
  MakeStore("generation-1");
  EXPECT_TRUE(nlohmann::json::parse(RunFsck({"--json", path_}).out)["clean"].get<bool>());
  RemoveBlobFiles("generation-1");
  const auto report = nlohmann::json::parse(RunFsck({path_, "--json"}).out);
  EXPECT_FALSE(report["clean"].get<bool>());
  EXPECT_EQ(report["stores"][0]["findings"][0]["kind"], "damage");
  EXPECT_EQ(report["stores"][0]["findings"][0]["code"], "blob");
}

TEST_F(FsckCommandTest, ChecksOnlyTheCurrentGeneration) {
  MakeStore("generation-9");
  RemoveBlobFiles("generation-9");
  std::ofstream(path_ + "/replaced-9");
  MakeStore("generation-10");
  MakeStore("other/generation-1");
  EXPECT_EQ(StoresIn(path_).stores,
            (std::vector<std::string>{path_ + "/generation-10", path_ + "/other/generation-1"}));
  EXPECT_EQ(RunFsck({path_}).status, 0);
}

TEST_F(FsckCommandTest, IgnoresDeletedNamespaces) {
  MakeStore("generation-1");
  MakeStore("namespaces/one/generation-3");
  MakeStore("namespaces/.deleted-1/generation-1");
  MakeStore("namespaces/two/generation-2");
  std::ofstream(path_ + "/namespaces/two/deleted-2");
  EXPECT_EQ(
      StoresIn(path_).stores,
      (std::vector<std::string>{path_ + "/generation-1", path_ + "/namespaces/one/generation-3"}));
}

// A start follows them too.
TEST_F(FsckCommandTest, FollowsLinksToStoresAndNamespaces) {
  MakeStore("elsewhere/store");
  MakeStore("elsewhere/namespace/generation-2");
  const std::string data = path_ + "/data";
  fs::create_directories(data + "/namespaces");
  fs::create_directory_symlink(path_ + "/elsewhere/store", data + "/generation-1");
  fs::create_directory_symlink(path_ + "/elsewhere/namespace", data + "/namespaces/one");
  fs::create_directory_symlink(path_ + "/elsewhere", data + "/other");
  EXPECT_EQ(
      StoresIn(data).stores,
      (std::vector<std::string>{data + "/generation-1", data + "/namespaces/one/generation-2"}));
  EXPECT_EQ(RunFsck({data}).status, 0);
  fs::remove_all(path_ + "/elsewhere/store/blobs");
  EXPECT_EQ(RunFsck({data}).status, 1);
}

TEST_F(FsckCommandTest, InterruptedCreationIsANote) {
  MakeStore("generation-1");
  fs::create_directories(path_ + "/namespaces/one/generation-3");
  std::ofstream(path_ + "/namespaces/one/generation-3/penstock.db");
  std::ofstream(path_ + "/namespaces/one/generation-3/penstock.db-wal");
  fs::create_directories(path_ + "/namespaces/two/generation-4");
  std::ofstream(path_ + "/namespaces/three.lock");
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.error;
  EXPECT_NE(outcome.out.find("note: " + path_ + "/namespaces/one/generation-3: "),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("generation-1: clean, 1 buckets"), std::string::npos) << outcome.out;
  const auto report = nlohmann::json::parse(RunFsck({path_, "--json"}).out);
  EXPECT_TRUE(report["clean"].get<bool>());
  ASSERT_EQ(report["leftovers"].size(), 3U);
  EXPECT_EQ(report["leftovers"][0]["code"], "leftover");
  EXPECT_EQ(RunFsck({path_, "--accept-loss"}).status, 0);
}

TEST_F(FsckCommandTest, NotesWhatIsNoNamespace) {
  MakeStore("generation-1");
  MakeStore("namespaces/generation-2/generation-3");  // a namespace with such a name
  MakeStore("namespaces/generation-4");               // a copy of a store
  std::ofstream(path_ + "/namespaces/penstock.lock");
  fs::create_directories(path_ + "/namespaces/backup/old");
  fs::create_directory_symlink(path_ + "/nothing", path_ + "/namespaces/link");
  fs::create_directories(path_ + "/namespaces/empty");
  const FoundStores found = StoresIn(path_);
  EXPECT_EQ(found.stores,
            (std::vector<std::string>{path_ + "/generation-1",
                                      path_ + "/namespaces/generation-2/generation-3"}));
  EXPECT_EQ(found.foreign, (std::vector<std::string>{
                               path_ + "/namespaces/backup", path_ + "/namespaces/generation-4",
                               path_ + "/namespaces/link", path_ + "/namespaces/penstock.lock"}));
  EXPECT_TRUE(found.leftovers.empty() && found.problems.empty());
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("note: " + path_ + "/namespaces/backup: is not a namespace"),
            std::string::npos)
      << outcome.out;
}

TEST_F(FsckCommandTest, InterruptedFirstStartIsANote) {
  std::ofstream(path_ + "/penstock.lock");
  EXPECT_EQ(RunFsck({path_}).status, 0);
  EXPECT_NE(RunFsck({path_}).out.find("note: " + path_ + ": "), std::string::npos);
  fs::create_directory(path_ + "/generation-1");
  EXPECT_EQ(RunFsck({path_}).status, 0);
}

TEST_F(FsckCommandTest, MissingDefaultStoreIsDamage) {
  std::ofstream(path_ + "/penstock.lock");
  MakeStore("namespaces/one/generation-3");
  EXPECT_EQ(RunFsck({path_}).status, 1);
  EXPECT_NE(RunFsck({path_}).out.find("damage: " + path_ + ": its store is missing"),
            std::string::npos);
}

TEST_F(FsckCommandTest, StoreThatWasCreatedAndIsMissingIsDamage) {
  std::ofstream(path_ + "/penstock.lock");
  fs::create_directory(path_ + "/generation-1");
  std::ofstream(path_ + "/created-1");
  EXPECT_EQ(RunFsck({path_}).status, 1);
  EXPECT_NE(RunFsck({path_}).out.find("damage: " + path_ + ": its store is missing"),
            std::string::npos);
}

TEST_F(FsckCommandTest, GenerationThatIsAFileIsDamage) {
  for (const bool recorded : {true, false}) {
    std::ofstream(path_ + "/generation-1");
    std::ofstream(path_ + "/penstock.lock");
    if (recorded) std::ofstream(path_ + "/created-1");
    const FsckOutcome outcome = RunFsck({path_});
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.error;
    EXPECT_NE(outcome.out.find("'generation-1' is not a directory"), std::string::npos)
        << outcome.out;
    const auto started = DataDirectory::Open(path_);
    ASSERT_FALSE(started.ok());
    EXPECT_NE(outcome.out.find(
                  started.error().message.substr(started.error().message.find("'generation-1'"))),
              std::string::npos)
        << "the same rule: " << started.error().message;
    fs::remove(path_ + "/created-1");
  }
}

TEST_F(FsckCommandTest, StoreWithoutItsDatabaseIsDamage) {
  MakeStore("generation-1");
  fs::remove(path_ + "/generation-1/penstock.db");
  fs::remove(path_ + "/generation-1/penstock.db-mark");
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.error;
  EXPECT_NE(outcome.out.find("is missing or empty"), std::string::npos) << outcome.out;
  EXPECT_FALSE(store::Store::Open({.directory = path_ + "/generation-1"}).ok());
}

TEST_F(FsckCommandTest, UnreadableDirectoryIsNotChecked) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every directory";
  MakeStore("generation-1");
  fs::permissions(path_, fs::perms::owner_exec);
  const FsckOutcome outcome = RunFsck({path_});
  fs::permissions(path_, fs::perms::owner_all);
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.error.find("'" + path_ + "': Permission denied"), std::string::npos)
      << outcome.error;
}

TEST_F(FsckCommandTest, UnreadableStoreIsDamageAndOthersAreChecked) {
  MakeStore("namespaces/one/generation-1");
  fs::create_directories(path_ + "/generation-1");
  std::ofstream(path_ + "/generation-1/penstock.db") << std::string(8192, 'x');
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_NE(outcome.out.find("damage: " + path_ + "/generation-1/penstock.db: "), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("namespaces/one/generation-1: clean"), std::string::npos)
      << outcome.out;
}

TEST_F(FsckCommandTest, StoreOfAnotherVersionIsNotCheckedAndOthersAre) {
  MakeStore("namespaces/one/generation-1");
  MakeStore("generation-1");
  ASSERT_TRUE(store::Connection::Open(path_ + "/generation-1/penstock.db")
                  .value()
                  ->Execute("PRAGMA user_version=99")
                  .ok());
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.error.find("has schema version 99"), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.out.find("namespaces/one/generation-1: clean"), std::string::npos)
      << outcome.out;
}

TEST_F(FsckCommandTest, UpgradesStoresAndUsersOfAnOlderVersion) {
  MakeStore("generation-1");
  MakeStore("namespaces/one/generation-1");
  ASSERT_TRUE(identity::UserDatabase::Open(path_, store::Durability::kRelaxed).ok());
  const auto set_version = [&](const std::string& file, const std::string& version) {
    ASSERT_TRUE(store::Connection::Open(path_ + "/" + file)
                    .value()
                    ->Execute("PRAGMA user_version=" + version)
                    .ok());
  };
  // Version 6 of stores added the table of events, version 4 of users these tables.
  set_version("namespaces/one/generation-1/penstock.db", "4; DROP TABLE events");
  set_version("users.db", "2; DROP TABLE access; DROP TABLE sessions");
  const FsckOutcome before = RunFsck({path_});
  EXPECT_EQ(before.status, 2);
  EXPECT_NE(before.error.find("namespaces/one/generation-1/penstock.db has schema version 4, but "
                              "this build uses version 6; upgrade it with penstock-emulator fsck "
                              "--upgrade DIR"),
            std::string::npos)
      << before.error;
  const FsckOutcome after = RunFsck({path_, "--upgrade"});
  EXPECT_EQ(after.status, 0) << after.out << after.error;
  EXPECT_NE(after.out.find("namespaces/one/generation-1: clean, 1 buckets, 1 versions"),
            std::string::npos)
      << after.out;
  EXPECT_EQ(RunFsck({path_, "--deep"}).status, 0);
}

TEST_F(FsckCommandTest, UpgradeLeavesNewerAndDamagedStoresAsTheyAre) {
  MakeStore("generation-1");
  MakeStore("namespaces/one/generation-1");
  ASSERT_TRUE(store::Connection::Open(path_ + "/generation-1/penstock.db")
                  .value()
                  ->Execute("PRAGMA user_version=99")
                  .ok());
  fs::remove(path_ + "/namespaces/one/generation-1/penstock.db");
  const FsckOutcome outcome = RunFsck({path_, "--upgrade"});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.error;
  EXPECT_NE(outcome.error.find("has schema version 99"), std::string::npos) << outcome.error;
  EXPECT_FALSE(fs::exists(path_ + "/namespaces/one/generation-1/penstock.db"));
  const auto user = DataDirectory::Open(path_);
  EXPECT_EQ(RunFsck({path_, "--upgrade"}).status, 2) << "an emulator uses it";
}

TEST_F(FsckCommandTest, ChecksTheUsersDatabase) {
  MakeStore("generation-1");
  ASSERT_TRUE(identity::UserDatabase::Open(path_, store::Durability::kRelaxed).ok());
  EXPECT_NE(RunFsck({path_}).out.find("/users.db: clean, 0 accounts, 0 access keys"),
            std::string::npos);
  ASSERT_TRUE(store::Connection::Open(path_ + "/users.db")
                  .value()
                  ->Execute("INSERT INTO accounts VALUES('12', 'x', 'y')")
                  .ok());
  EXPECT_EQ(RunFsck({path_}).status, 1);
  EXPECT_NE(RunFsck({path_}).out.find("damage: account '12': invalid account id '12'"),
            std::string::npos);
  const auto report = nlohmann::json::parse(RunFsck({path_, "--json"}).out);
  EXPECT_FALSE(report["clean"].get<bool>());
  EXPECT_EQ(report["users"]["findings"][0]["kind"], "damage");
  EXPECT_TRUE(report["stores"][0]["clean"].get<bool>());
}

TEST_F(FsckCommandTest, LostUsersAreDamageAndCanBeAccepted) {
  MakeStore("generation-1");
  ASSERT_TRUE(identity::UserDatabase::Open(path_, store::Durability::kRelaxed).ok());
  for (const char* suffix : {"", "-mark", "-wal", "-shm"}) fs::remove(path_ + "/users.db" + suffix);
  const FsckOutcome outcome = RunFsck({path_});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("damage: " + path_ + "/users.db: is missing"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(RunFsck({path_, "--accept-loss"}).status, 0);
  EXPECT_TRUE(identity::UserDatabase::Open(path_, store::Durability::kRelaxed).ok());
}

TEST_F(FsckCommandTest, ImpossibleCheckIsStatus2) {
  EXPECT_EQ(RunFsck({}).status, 2);
  EXPECT_EQ(RunFsck({path_, "--wrong"}).status, 2);
  const FsckOutcome empty = RunFsck({path_});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.error.find(path_), std::string::npos);
  MakeStore("generation-1");
  const auto user = store::Store::Open({.directory = path_ + "/generation-1"});
  EXPECT_EQ(RunFsck({path_}).status, 2) << "an emulator uses it";
}

TEST_F(FsckCommandTest, HelpSucceeds) {
  EXPECT_EQ(RunFsck({"--help"}).status, 0);
  EXPECT_NE(RunFsck({"--help"}).out.find("--deep"), std::string::npos);
}

TEST(FsckWithoutAStoreTest, PrintsOneJsonObject) {
  const FsckOutcome outcome = RunFsck({"--json", "/nowhere"});
  EXPECT_EQ(outcome.status, 2);
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_FALSE(report.at("clean").get<bool>());
  EXPECT_EQ(report.at("error"), outcome.error);
  EXPECT_NE(outcome.error.find("'/nowhere'"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::server
