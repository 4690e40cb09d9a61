#include "emulator/identity/user_database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "base/testing/allocation_failures.h"
#include "emulator/server/server_fixture.h"
#include "emulator/store/sqlite/migrations.h"

namespace penstock::emulator::identity {
namespace {

constexpr const char* kUsers = R"({"accounts": [
  {"account_id": "111122223333", "display_name": "data-team", "access_keys": [
    {"access_key_id": "ROOT", "secret_access_key": "s1", "namespace": "suite"}],
   "users": [{"name": "ann", "path": "/people/", "access_keys": [
    {"access_key_id": "ANN", "secret_access_key": "s2", "session_token": "t", "expires": "2030-01-02T03:04:05.25Z", "active": false}]}]},
  {"account_id": "444455556666"}]})";

class UserDatabaseTest : public ::testing::Test {
 protected:
  std::unique_ptr<UserDatabase> Open() const {
    auto kept = UserDatabase::Open(folder_.path(), store::Durability::kRelaxed);
    EXPECT_TRUE(kept.ok()) << (kept.ok() ? "" : kept.error().message);
    return kept.ok() ? std::move(kept).value() : nullptr;
  }
  int ModeOf(const std::string& name) const {
    struct stat status {};
    return ::stat((folder_.path() + "/" + name).c_str(), &status) == 0 ? status.st_mode & 0777 : -1;
  }

  const server::TemporaryFolder folder_;
};

TEST_F(UserDatabaseTest, ReturnsStoredUsers) {
  const UsersDocument users = ParseUsers(kUsers).value();
  ASSERT_TRUE(Open()->Put(users).ok());
  const auto kept = Open();
  const auto read = kept->Read();
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->accounts.size(), 2u);
  EXPECT_EQ(read->accounts[0].display_name, "data-team");
  ASSERT_EQ(read->keys.size(), 2u);
  const KeyRecord& ann = read->keys[0];
  EXPECT_EQ(ann.user.access_key_id, "ANN");
  EXPECT_EQ(ann.user.secret_access_key, "s2");
  EXPECT_EQ(ann.user.session_token, "t");
  EXPECT_EQ(ann.user.expires, users.keys[1].user.expires);
  EXPECT_FALSE(ann.user.active);
  EXPECT_EQ(ann.name_space, "default");
  EXPECT_EQ(ann.user.identity.arn, "arn:aws:iam::111122223333:user/people/ann");
  EXPECT_EQ(ann.user.identity.user_name, "ann");
  EXPECT_EQ(ann.user.identity.owner_id, users.accounts[0].id);
  EXPECT_EQ(read->keys[1].name_space, "suite");
  EXPECT_EQ(read->keys[1].user.expires, std::nullopt);
}

TEST_F(UserDatabaseTest, MissingDatabaseIsNotCreatedAgain) {
  const std::string path = folder_.path() + "/users.db";
  ASSERT_TRUE(Open()->Put(ParseUsers(kUsers).value()).ok());
  for (const char* suffix : {"", "-mark", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  const auto refused = UserDatabase::Open(folder_.path(), store::Durability::kRelaxed);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kDataLoss);
  EXPECT_TRUE(refused.error().message.starts_with(
      "the user database '" + path +
      "' is missing or empty, but 'created-users' records that its creation was completed"))
      << refused.error().message;
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(AcceptUsersLoss(folder_.path()).ok());
  EXPECT_TRUE(Open()->Read()->keys.empty());
  EXPECT_EQ(ModeOf("created-users"), 0600) << "the new creation is recorded";
}

TEST_F(UserDatabaseTest, RecordsTheCreationOfAnEarlierBuild) {
  ASSERT_TRUE(Open()->Put(ParseUsers(kUsers).value()).ok());
  ASSERT_TRUE(std::filesystem::remove(folder_.path() + "/created-users"));
  EXPECT_EQ(Open()->Read()->keys.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/created-users"));
  ASSERT_TRUE(AcceptUsersLoss(folder_.path()).ok());
  EXPECT_EQ(Open()->Read()->keys.size(), 2u) << "nothing was lost";
}

TEST_F(UserDatabaseTest, ReplacesAndRemoves) {
  UsersDocument users = ParseUsers(kUsers).value();
  const auto kept = Open();
  ASSERT_TRUE(kept->Put(users).ok());
  users.keys[0].user.secret_access_key = "new";
  ASSERT_TRUE(kept->Put({.keys = {users.keys[0]}}).ok());
  ASSERT_TRUE(kept->Remove({"ANN", "NOBODY"}, {"444455556666"}).ok());
  const auto read = kept->Read();
  ASSERT_EQ(read->keys.size(), 1u);
  EXPECT_EQ(read->keys[0].user.secret_access_key, "new");
  EXPECT_EQ(read->accounts.size(), 1u);
}

TEST_F(UserDatabaseTest, StoresNoUserAfterStop) {
  const std::atomic<bool> stop{true};
  const auto kept = Open();
  const Result<void> put = kept->Put(ParseUsers(kUsers).value(), &stop);
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(kept->Read()->accounts.empty());
  EXPECT_TRUE(kept->Put(ParseUsers(kUsers).value()).ok());
}

TEST_F(UserDatabaseTest, AChangeThatRunsOutOfMemoryDoesNotPreventTheNextOne) {
  const UsersDocument users = ParseUsers(kUsers).value();
  const auto kept = Open();
  const int failed = penstock::testing::ForEachAllocation([&](int nth) {
    const bool fails = penstock::testing::FailsAllocation(
        nth, [&] { Contain("the test", [&] { static_cast<void>(kept->Put(users)); }); });
    const auto next = kept->Put(users);
    EXPECT_TRUE(next.ok()) << next.error().message;
    return fails;
  });
  EXPECT_GT(failed, 0);
}

TEST_F(UserDatabaseTest, ChangesFailAfterAFileIsRemovedOrMoved) {
  const UsersDocument users = ParseUsers(kUsers).value();
  for (const char* name : {"users.db", "users.db-wal"}) {
    for (const bool moved : {false, true}) {
      const server::TemporaryFolder folder;
      const auto kept = UserDatabase::Open(folder.path(), store::Durability::kRelaxed).value();
      ASSERT_TRUE(kept->Put(users).ok());
      const std::string path = folder.path() + "/" + name;
      ASSERT_EQ(moved ? ::rename(path.c_str(), (path + ".moved").c_str()) : ::unlink(path.c_str()),
                0);
      for (const Result<void>& changed :
           {kept->Put(users), kept->Remove({"ROOT"}, {}), kept->SetRoots({})}) {
        ASSERT_FALSE(changed.ok()) << name << moved;
        EXPECT_EQ(changed.error().kind, ErrorKind::kDataLoss);
        EXPECT_NE(changed.error().message.find("user database 'users.db' was removed"),
                  std::string::npos)
            << changed.error().message;
      }
      EXPECT_EQ(kept->Read()->keys.size(), 2u) << "a refused change was made";
    }
  }
}

TEST_F(UserDatabaseTest, IsReadableOnlyByItsOwner) {
  const auto kept = Open();
  ASSERT_TRUE(kept->Put(ParseUsers(kUsers).value()).ok());
  EXPECT_EQ(ModeOf("users.db"), 0600);
  EXPECT_EQ(ModeOf("users.db-wal"), 0600);
  EXPECT_EQ(ModeOf("users.db-shm"), 0600);
}

TEST_F(UserDatabaseTest, CorrectsALooseMode) {
  Open();
  std::filesystem::permissions(folder_.path() + "/users.db", std::filesystem::perms::all);
  Open();
  EXPECT_EQ(ModeOf("users.db"), 0600);
}

TEST_F(UserDatabaseTest, OverwritesARemovedSecret) {
  {
    const auto kept = Open();
    UsersDocument users = ParseUsers(kUsers).value();
    users.keys[0].user.secret_access_key = "rather-unmistakable";
    ASSERT_TRUE(kept->Put(users).ok());
  }
  EXPECT_NE(server::ReadFile(folder_.path() + "/users.db").find("rather-unmistakable"),
            std::string::npos);
  ASSERT_TRUE(Open()->Remove({"ROOT"}, {}).ok());
  EXPECT_EQ(server::ReadFile(folder_.path() + "/users.db").find("rather-unmistakable"),
            std::string::npos);
}

TEST_F(UserDatabaseTest, RootsKeepTheirOrder) {
  const s3::Owner owner{std::string(64, 'a'), "name", "111122223333"};
  EXPECT_FALSE(Open()->ReadRoots()->has_value()) << "no earlier start is known";
  ASSERT_TRUE(Open()->SetRoots({}).ok());
  EXPECT_TRUE(Open()->ReadRoots()->has_value());
  ASSERT_TRUE(Open()->SetRoots({{"old", owner}}).ok());
  ASSERT_TRUE(Open()->SetRoots({{"z", owner}, {"a", owner}}).ok());
  const auto roots = Open()->ReadRoots().value();
  ASSERT_EQ(roots->size(), 2u);
  EXPECT_EQ((*roots)[0].access_key_id, "z");
  EXPECT_EQ((*roots)[1].account.id, owner.id);
  EXPECT_EQ((*roots)[1].account.display_name, "name");
  EXPECT_EQ((*roots)[1].account.account_id, "111122223333");
}

TEST_F(UserDatabaseTest, FilesWithoutAStoreIdAreUpgraded) {
  const std::string path = folder_.path() + "/users.db";
  Open();
  ASSERT_TRUE(store::Connection::Open(path)
                  .value()
                  ->Execute("DROP TABLE access; DROP TABLE sessions; PRAGMA user_version=2")
                  .ok());
  Open();
  EXPECT_EQ(store::SchemaVersionOf(*store::Connection::Open(path).value()).value(),
            kUserDatabaseVersion);
}

constexpr const char* kRoles = R"({"accounts": [{"account_id": "111122223333",
  "groups": [{"name": "ml"}], "users": [{"name": "ann", "groups": ["ml"]}],
  "managed_policies": [{"name": "p", "document": {"Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}}],
  "token_providers": [{"issuer": "https://issuer.example", "audiences": ["a"], "accept_any_token": true}],
  "roles": [{"name": "r", "container": true, "container_token": "hush", "trust_policy": {"Statement":
    {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"}}}]}]})";

SessionRecord Session() {
  return {.access_key_id = "ASIA1",
          .secret_access_key = "s",
          .session_token = "t",
          .expires = WallTime(std::chrono::seconds(1'900'000'000)),
          .issued = WallTime(std::chrono::seconds(1'899'996'400)),
          .account_id = "111122223333",
          .role = "r",
          .arn = "arn:aws:sts::111122223333:assumed-role/r/s",
          .user_name = "r/s",
          .name_space = "suite",
          .policies = {"{}", "{\"a\": 1}"}};
}

TEST_F(UserDatabaseTest, VersionThreeIsUpgraded) {
  const std::string path = folder_.path() + "/users.db";
  ASSERT_TRUE(Open()->Put(ParseUsers(kUsers).value()).ok());
  ASSERT_TRUE(store::Connection::Open(path)
                  .value()
                  ->Execute("DROP TABLE access; DROP TABLE sessions; PRAGMA user_version=3")
                  .ok());
  const auto kept = Open();
  EXPECT_EQ(kept->Read()->keys.size(), 2u);
  EXPECT_TRUE(kept->Read()->access.empty());
  ASSERT_TRUE(kept->Put(ParseUsers(kRoles).value()).ok());
  EXPECT_EQ(kept->Read()->access.size(), 1u);
}

TEST_F(UserDatabaseTest, VersionFourIsUpgraded) {
  UsersDocument users = ParseUsers(kRoles).value();
  users.sessions.push_back(Session());
  ASSERT_TRUE(Open()->Put(users).ok());
  ASSERT_TRUE(store::Connection::Open(folder_.path() + "/users.db")
                  .value()
                  ->Execute("ALTER TABLE sessions DROP COLUMN issued; PRAGMA user_version=4")
                  .ok());
  const auto kept = Open();
  const auto read = kept->Read();
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->sessions.size(), 1u);
  EXPECT_EQ(read->sessions.front().session_token, "t");
  EXPECT_FALSE(read->sessions.front().issued.has_value());
  users.sessions.front().access_key_id = "ASIA2";
  ASSERT_TRUE(kept->Put(users).ok());
  EXPECT_EQ(kept->Read()->sessions.back().issued, Session().issued);
}

TEST_F(UserDatabaseTest, StoresRolesAndSessions) {
  UsersDocument users = ParseUsers(kRoles).value();
  users.sessions.push_back(Session());
  ASSERT_TRUE(Open()->Put(users).ok());
  const auto kept = Open();
  const auto read = kept->Read();
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->access.size(), 1u);
  const AccountAccess& access = read->access.front();
  EXPECT_EQ(access.roles.at("r").container_token, "hush");
  EXPECT_EQ(access.users.at("ann").groups, std::vector<std::string>{"ml"});
  EXPECT_TRUE(access.groups.contains("ml") && access.managed_policies.contains("p"));
  EXPECT_EQ(access.token_providers.at("issuer.example").issuer, "https://issuer.example");
  ASSERT_EQ(read->sessions.size(), 1u);
  const SessionRecord& session = read->sessions.front();
  EXPECT_EQ(session.secret_access_key, "s");
  EXPECT_EQ(session.session_token, "t");
  EXPECT_EQ(session.expires, Session().expires);
  EXPECT_EQ(session.issued, Session().issued);
  EXPECT_EQ(session.role, "r");
  EXPECT_EQ(session.user_name, "r/s");
  EXPECT_EQ(session.name_space, "suite");
  EXPECT_EQ(session.policies, Session().policies);

  ASSERT_TRUE(kept->Remove({"ASIA1"}, {"111122223333"}).ok());
  EXPECT_TRUE(kept->Read()->sessions.empty());
  EXPECT_TRUE(kept->Read()->access.empty());
}

TEST_F(UserDatabaseTest, ADamagedRoleIsNamed) {
  ASSERT_TRUE(Open()->Put(ParseUsers(kRoles).value()).ok());
  ASSERT_TRUE(store::Connection::Open(folder_.path() + "/users.db")
                  .value()
                  ->Execute("UPDATE access SET document = '{}' WHERE kind = 'role'")
                  .ok());
  const auto read = Open()->Read();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(read.error().message.find("a damaged role 'r' of account '111122223333'"),
            std::string::npos)
      << read.error().message;
}

TEST_F(UserDatabaseTest, RefusesForeignAndNewerFiles) {
  const std::string path = folder_.path() + "/users.db";
  const auto refused = [&] {
    return UserDatabase::Open(folder_.path(), store::Durability::kRelaxed).error();
  };
  Open();
  ASSERT_TRUE(store::Connection::Open(path).value()->Execute("PRAGMA user_version=99").ok());
  EXPECT_EQ(refused().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(refused().message.find("has schema version 99"), std::string::npos);
  for (const char* suffix : {"", "-mark"}) std::filesystem::remove(path + suffix);
  ASSERT_TRUE(store::Connection::Open(path).value()->Execute("CREATE TABLE mine(x)").ok());
  EXPECT_NE(refused().message.find("not created by this emulator"), std::string::npos);
  std::ofstream(path, std::ios::trunc) << std::string(8192, 'x');
  EXPECT_EQ(refused().kind, ErrorKind::kDataLoss);
  EXPECT_NE(refused().message.find(path), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::identity
