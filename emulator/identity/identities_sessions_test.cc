#include <gtest/gtest.h>

#include "emulator/identity/identities.h"
#include "emulator/identity/sts/sts_fixture.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::identity {
namespace {

class SessionsTest : public StsTest {
 protected:
  SessionsTest() : StsTest(R"({"accounts": []})") {}

  std::unique_ptr<UserDatabase> Open() const {
    return UserDatabase::Open(folder_.path(), store::Durability::kRelaxed).value();
  }
  Result<SessionRecord> Start(Identities& identities) {
    return identities.AddSession({.expires = clock_.Now() + std::chrono::hours(1),
                                  .account_id = "111122223333",
                                  .role = "trainer",
                                  .arn = "arn:aws:sts::111122223333:assumed-role/trainer/job",
                                  .user_name = "trainer/job",
                                  .name_space = "default"},
                                 clock_.Now());
  }

  const server::TemporaryFolder folder_;
};

TEST_F(SessionsTest, AreRestoredWithTheirRole) {
  ASSERT_TRUE(identities_.Restore(Open()).ok());
  ASSERT_TRUE(identities_.Add(ParseUsers(kStsUsers).value()).ok());
  const auto session = Start(identities_);
  ASSERT_TRUE(session.ok()) << session.error().message;
  const UsersDocument stored = Open()->Read().value();
  ASSERT_EQ(stored.sessions.size(), 1u);
  EXPECT_EQ(stored.sessions.front().session_token, session->session_token);
  EXPECT_EQ(stored.access.size(), 2u);
}

TEST_F(SessionsTest, WithoutTheirRoleAreRemoved) {
  ASSERT_TRUE(identities_.Add(ParseUsers(kStsUsers).value()).ok());  // given, so not stored
  ASSERT_TRUE(identities_.Restore(Open()).ok());
  ASSERT_TRUE(Start(identities_).ok());
  EXPECT_EQ(Open()->Read()->sessions.size(), 1u);

  Identities later;
  later.Attach(
      space_,
      {.find = [this](std::string_view) -> Result<std::shared_ptr<KeyNamespace>> {
         return std::shared_ptr<KeyNamespace>(space_);
       },
       .find_or_create = [this](std::string_view) -> Result<std::shared_ptr<KeyNamespace>> {
         return std::shared_ptr<KeyNamespace>(space_);
       },
       .at_start = [](std::string_view) { return NamespaceState::kStored; }},
      MakeIdentity("a"));
  ASSERT_TRUE(later.Restore(Open()).ok());
  EXPECT_TRUE(Open()->Read()->sessions.empty());
}

// A session of GetSessionToken belongs to a user.
TEST_F(SessionsTest, WithoutTheirUserAreRemoved) {
  const auto start = [&](const char* user) {
    return identities_
        .AddSession({.expires = clock_.Now() + std::chrono::hours(1),
                     .account_id = "111122223333",
                     .arn = std::string("arn:aws:iam::111122223333:user/") + user,
                     .user_name = user,
                     .name_space = "default"},
                    clock_.Now())
        .value()
        .access_key_id;
  };
  ASSERT_TRUE(identities_.Add(ParseUsers(kStsUsers).value()).ok());  // given, so not stored
  ASSERT_TRUE(identities_.Restore(Open()).ok());
  const std::string of_ann = start("ann");
  const std::string of_bob = start("bob");
  Identities later;
  const auto find = [this](std::string_view) -> Result<std::shared_ptr<KeyNamespace>> {
    return std::shared_ptr<KeyNamespace>(space_);
  };
  later.Attach(space_,
               {.find = find,
                .find_or_create = find,
                .at_start = [](std::string_view) { return NamespaceState::kStored; }},
               MakeIdentity("a"));
  ASSERT_TRUE(later
                  .Add(ParseUsers(R"({"accounts": [{"account_id": "111122223333", "users": [
                      {"name": "bob", "access_keys": [
                        {"access_key_id": "BOB", "secret_access_key": "s"}]}]}]})")
                           .value())
                  .ok());
  ASSERT_TRUE(later.Restore(Open()).ok());
  EXPECT_EQ(later.FindUser(of_ann), nullptr);
  EXPECT_NE(later.FindUser(of_bob), nullptr);
  EXPECT_EQ(Open()->Read()->sessions.size(), 1u);
}

TEST_F(SessionsTest, PrincipalsAreFoundWithoutKeys) {
  ASSERT_TRUE(identities_
                  .Add(ParseUsers(R"({"accounts": [{"account_id": "111122223333",
      "users": [
        {"name": "ann", "tags": {"team": "red"}, "path": "/ml/"},
        {"name": "key", "access_keys": [{"access_key_id": "KEY", "secret_access_key": "s"}]}],
      "roles": [{"name": "trainer", "path": "/ml/", "tags": {"team": "blue"}, "trust_policy": {"Statement":
        {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"}}}]}]})")
                           .value())
                  .ok());
  const std::string iam = "arn:aws:iam::111122223333:";
  const std::string sts = "arn:aws:sts::111122223333:";
  const auto arn = [&](const std::string& name) {
    const auto found = identities_.FindPrincipal(name);
    return found ? found->arn : "none";
  };
  EXPECT_EQ(arn("KEY"), iam + "user/key");
  EXPECT_EQ(arn(iam + "user/key"), iam + "user/key");
  EXPECT_EQ(arn(iam + "root"), iam + "root");
  const auto ann = identities_.FindPrincipal(iam + "user/ml/ann");
  ASSERT_TRUE(ann.has_value());
  EXPECT_FALSE(ann->anonymous() || ann->temporary);
  EXPECT_EQ(ann->policies->tags.front().second, "red");
  EXPECT_EQ(ann->owner_id, identities_.FindPrincipal("KEY")->owner_id);
  const auto role = identities_.FindPrincipal(iam + "role/ml/trainer");
  ASSERT_TRUE(role.has_value());
  EXPECT_EQ(role->arn, sts + "assumed-role/trainer/explain");
  EXPECT_EQ(role->role_arn, iam + "role/ml/trainer");
  EXPECT_EQ(role->user_id, RoleId("111122223333", "trainer") + ":explain");
  EXPECT_TRUE(role->temporary);
  EXPECT_EQ(role->policies->tags.front().second, "blue");
  EXPECT_EQ(arn(sts + "assumed-role/trainer/any"), sts + "assumed-role/trainer/any");
  for (const std::string& unknown :
       {std::string(), std::string("NOKEY"), iam + "user/ann", iam + "user/ml/bob",
        iam + "role/trainer", iam + "role/ml/other", iam + "roots", sts + "assumed-role/trainer",
        sts + "assumed-role/trainer/a/b", sts + "assumed-role/other/job", iam + "group/ml",
        std::string("arn:aws:iam::999999999999:root")})
    EXPECT_EQ(arn(unknown), "none") << unknown;
}

// Session policies are those of the newest session with that ARN.
TEST_F(SessionsTest, PrincipalsOfSessionsHaveTheirPolicies) {
  ASSERT_TRUE(identities_.Add(ParseUsers(kStsUsers).value()).ok());
  const std::string key = Start(identities_)->access_key_id;
  const std::string arn = "arn:aws:sts::111122223333:assumed-role/trainer/job";
  EXPECT_EQ(identities_.FindPrincipal(arn)->access_key_id, key);
  EXPECT_FALSE(identities_.FindPrincipal(arn)->policies->session.has_value());
  ASSERT_TRUE(
      identities_
          .AddSession({.expires = clock_.Now() + std::chrono::hours(1),
                       .account_id = "111122223333",
                       .role = "trainer",
                       .arn = arn,
                       .user_name = "trainer/job",
                       .name_space = "default",
                       .policies = {R"({"Statement": {"Effect": "Allow", "Action": "s3:GetObject",
                                                      "Resource": "*"}})"}},
                      clock_.Now() + std::chrono::seconds(1))
          .ok());
  const auto newest = identities_.FindPrincipal(arn);
  EXPECT_TRUE(newest->policies->session.has_value());
  EXPECT_EQ(newest->issued, clock_.Now() + std::chrono::seconds(1));
}

TEST_F(SessionsTest, EndWithTheirNamespace) {
  ASSERT_TRUE(identities_.Add(ParseUsers(kStsUsers).value()).ok());
  const std::string key = Start(identities_)->access_key_id;
  ASSERT_NE(identities_.FindUser(key), nullptr);
  ASSERT_TRUE(identities_.RemoveNamespace(*space_).ok());
  EXPECT_EQ(identities_.FindUser(key), nullptr);
}

TEST_F(SessionsTest, NeedAnAccountAndANamespace) {
  EXPECT_EQ(Start(identities_).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace penstock::emulator::identity
