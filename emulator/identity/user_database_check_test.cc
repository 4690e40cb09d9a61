#include "emulator/identity/user_database_check.h"

#include <gtest/gtest.h>

#include "emulator/identity/user_database.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::identity {
namespace {

class UserDatabaseCheckTest : public testing::Test {
 protected:
  UserDatabaseCheckTest() {
    const auto kept = UserDatabase::Open(folder_.path(), store::Durability::kRelaxed).value();
    EXPECT_TRUE(
        kept->Put(ParseUsers(R"({"accounts": [{"account_id": "111122223333", "access_keys": [
      {"access_key_id": "K", "secret_access_key": "hush"}]}]})")
                      .value())
            .ok());
    EXPECT_TRUE(
        kept->SetRoots({{"penstock", {std::string(64, 'a'), "penstock", "444455556666"}}}).ok());
  }
  void Execute(const std::string& sql) {
    ASSERT_TRUE(store::Connection::Open(path_).value()->Execute(sql).ok());
  }
  static Result<std::optional<UserDatabaseReport>> Checked(const std::string& directory) {
    return CheckUserDatabase(directory, [&](const std::string& name) {
      if (name == "gone") return NamespaceState::kDeleted;
      return std::filesystem::is_directory(directory + "/namespaces/" + name)
                 ? NamespaceState::kStored
                 : NamespaceState::kMissing;
    });
  }
  UserDatabaseReport Report() const { return *Checked(folder_.path()).value(); }
  std::string Findings() const {
    std::string text;
    for (const auto& finding : Report().findings)
      text += finding.code + ": " + finding.subject + ": " + finding.message + "\n";
    EXPECT_EQ(text.find("hush"), std::string::npos);
    return text;
  }

  const server::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/users.db";
};

TEST_F(UserDatabaseCheckTest, ValidUsersAreClean) {
  EXPECT_EQ(Findings(), "");
  EXPECT_EQ(Report().accounts, 1u);
  EXPECT_EQ(Report().access_keys, 1u);
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal")) << "the check must not change anything";
}

TEST_F(UserDatabaseCheckTest, NoUsersAreNoFinding) {
  const server::TemporaryFolder empty;
  EXPECT_FALSE(Checked(empty.path())->has_value());
}

TEST_F(UserDatabaseCheckTest, LostUsersAreDamage) {
  for (const char* suffix : {"", "-mark", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  EXPECT_TRUE(Findings().starts_with("database: " + path_ + ": is missing or empty, but "))
      << Findings();
  EXPECT_FALSE(Report().clean());
}

TEST_F(UserDatabaseCheckTest, NamesDamagedRecords) {
  Execute(
      "UPDATE access_keys SET account_id = 'x', secret_access_key = '', expires = 1;"
      "UPDATE accounts SET canonical_id = 'short'; UPDATE roots SET account_id = '12'");
  EXPECT_EQ(
      Findings(),
      "record: account '111122223333': invalid canonical id 'short': expected 64 digits 0-9 and "
      "a-f\n"
      "references: access key 'K': its account 'x' is missing\n"
      "record: access key 'K': it has no secret\n"
      "record: access key 'K': it expires and has no session token\n"
      "record: account of access key 'penstock': invalid account id '12': expected 12 digits\n");
  EXPECT_FALSE(Report().clean());
}

TEST_F(UserDatabaseCheckTest, RepairableProblemsAreNotes) {
  Execute("UPDATE access_keys SET namespace = 'gone'");
  std::filesystem::permissions(
      path_, std::filesystem::perms::owner_all | std::filesystem::perms::others_read);
  const UserDatabaseReport report = Report();
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_TRUE(report.clean());
}

TEST_F(UserDatabaseCheckTest, MissingNamespaceIsDamage) {
  Execute("UPDATE access_keys SET namespace = 'suite'");
  EXPECT_EQ(Findings(),
            "references: access key 'K': the directory of its namespace 'suite' is missing or has "
            "no store; restore the directory, or start the emulator and delete the key\n");
  EXPECT_FALSE(Report().clean());
  std::filesystem::create_directories(folder_.path() + "/namespaces/suite");
  EXPECT_TRUE(Report().clean());
}

TEST_F(UserDatabaseCheckTest, NamesADamagedDatabase) {
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);  // the page of the accounts table, with its header
  file << std::string(200, 'x');
  file.close();
  const auto report = Checked(folder_.path());
  EXPECT_TRUE(!report.ok() || !(*report)->clean());
  Execute("PRAGMA user_version=7");
  EXPECT_EQ(Checked(folder_.path()).error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::emulator::identity
