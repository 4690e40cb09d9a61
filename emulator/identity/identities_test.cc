#include "emulator/identity/identities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "emulator/server/namespaces/namespace_store.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::identity {
namespace {

class IdentitiesTest : public testing::Test {
 protected:
  IdentitiesTest() {
    shared_ = Open("default").value();
    identities_.Attach(
        shared_,
        {.find = [this](std::string_view name) { return Find(std::string(name)); },
         .find_or_create = [this](std::string_view name) { return Open(std::string(name)); },
         .at_start =
             [this](std::string_view name) {
               return spaces_.contains(std::string(name)) ? NamespaceState::kStored
                                                          : NamespaceState::kMissing;
             }},
        MakeIdentity("a"));
    EXPECT_TRUE(identities_.Add(UsersOfPairs({{"a", "1"}, {"b", "2"}})).ok());
  }

  Result<std::shared_ptr<KeyNamespace>> Open(const std::string& name) {
    if (name == "broken") return Error::Make(ErrorKind::kResourceExhausted, "disk full");
    std::shared_ptr<KeyNamespace>& namespace_store = spaces_[name];
    if (!namespace_store) {
      PENSTOCK_ASSIGN(namespace_store,
                      server::NamespaceStore::Open({.name = name, .clock = &SystemClock()}));
    }
    return namespace_store;
  }
  Result<std::shared_ptr<KeyNamespace>> Find(const std::string& name) {
    if (spaces_.contains(name)) return spaces_[name];
    return Error::Make(ErrorKind::kNotFound, "no namespace '" + name + "'");
  }
  static UsersDocument Document(const char* json) { return ParseUsers(json).value(); }
  static UsersDocument ManyAccounts() {
    constexpr int kAccounts = 20'000;
    UsersDocument users;
    for (int i = 0; i < kAccounts; ++i) {
      const std::string number = std::to_string(100'000'000'000 + i);
      users.accounts.push_back({"id of " + number, number, number});
    }
    return users;
  }

  std::map<std::string, std::shared_ptr<KeyNamespace>> spaces_;
  std::shared_ptr<KeyNamespace> shared_;
  Identities identities_;
};

TEST_F(IdentitiesTest, EveryPairHasItsOwnAccount) {
  ASSERT_NE(identities_.FindUser("b"), nullptr);
  EXPECT_EQ(identities_.FindUser("b")->secret_access_key, "2");
  EXPECT_NE(identities_.FindUser("a")->identity.owner_id,
            identities_.FindUser("b")->identity.owner_id);
  EXPECT_EQ(identities_.FindUser("c"), nullptr);
  EXPECT_EQ(identities_.NamespaceOf(identities_.FindUser("a").get()), shared_->Current());
  EXPECT_EQ(identities_.NamespaceOf(nullptr), shared_->Current());
  EXPECT_EQ(identities_.DefaultIdentity().access_key_id, "a");
  EXPECT_EQ(identities_.FindOwner(MakeIdentity("b").owner_id)->display_name, "b");
  EXPECT_FALSE(identities_.FindOwner("nobody").has_value());
}

TEST_F(IdentitiesTest, KeySelectsItsNamespace) {
  ASSERT_TRUE(
      identities_
          .Add(Document(
              R"({"namespaces": ["suite"], "accounts": [{"account_id": "111122223333", "access_keys": [
                         {"access_key_id": "K", "secret_access_key": "s", "namespace": "suite"}]}]})"))
          .ok());
  EXPECT_EQ(identities_.NamespaceOf(identities_.FindUser("K").get())->name, "suite");
  EXPECT_EQ(identities_.OwnerOf("suite")->access_key_id, "K");
  ASSERT_TRUE(identities_.RemoveNamespace(*spaces_["suite"]).ok());
  EXPECT_EQ(identities_.FindUser("K"), nullptr);
}

TEST_F(IdentitiesTest, RemovingANamespaceKeepsDescribedAccounts) {
  UsersDocument made = UsersOfPairs({{"MADE", "s"}});
  made.keys.front().name_space = "suite";
  made.namespaces = {"suite"};
  ASSERT_TRUE(identities_.Add(std::move(made)).ok());
  ASSERT_TRUE(
      identities_
          .Add(Document(
              R"({"namespaces": ["suite"], "accounts": [{"account_id": "111122223333", "access_keys": [
                         {"access_key_id": "K", "secret_access_key": "s", "namespace": "suite"}]}]})"))
          .ok());
  const std::string described = identities_.FindUser("K")->identity.owner_id;
  ASSERT_TRUE(identities_.RemoveNamespace(*spaces_["suite"]).ok());
  EXPECT_FALSE(identities_.FindOwner(MakeIdentity("MADE").owner_id).has_value());
  EXPECT_TRUE(identities_.FindOwner(described).has_value());
  EXPECT_TRUE(identities_.FindOwner(MakeIdentity("a").owner_id).has_value());
}

TEST_F(IdentitiesTest, OwnerIsFoundByItsNewCanonicalId) {
  UsersDocument users;
  users.accounts.push_back({"old", "ann", "111122223333"});
  ASSERT_TRUE(identities_.Add(users).ok());
  EXPECT_EQ(identities_.FindOwner("old")->display_name, "ann");
  users.accounts.front().id = "new";
  ASSERT_TRUE(identities_.Add(users).ok());
  EXPECT_EQ(identities_.FindOwner("new")->display_name, "ann");
  EXPECT_FALSE(identities_.FindOwner("old").has_value());
}

// Each request that names an owner looks one up.
TEST_F(IdentitiesTest, OwnersAreFoundInATimeThatDoesNotGrowWithTheirNumber) {
  const UsersDocument users = ManyAccounts();
  ASSERT_TRUE(identities_.Add(users).ok());
  const auto time_of = [&](const s3::Owner& account) {
    auto least = std::chrono::steady_clock::duration::max();
    for (int round = 0; round < 7; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 100; ++i)
        EXPECT_EQ(identities_.FindOwner(account.id)->account_id, account.account_id);
      least = std::min(least, std::chrono::steady_clock::now() - start);
    }
    return least;
  };
  EXPECT_LT(time_of(users.accounts.back()), 50 * time_of(users.accounts.front()));
}

// Each namespace that is created adds a user.
TEST_F(IdentitiesTest, UsersAreAddedInATimeThatDoesNotGrowWithTheirNumber) {
  ASSERT_TRUE(Open("one").ok());
  const auto time_of_one = [&] {
    auto least = std::chrono::steady_clock::duration::max();
    for (int round = 0; round < 7; ++round) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_TRUE(identities_.Add(UsersOfNamespace("one", {"K", "s"})).ok());
      least = std::min(least, std::chrono::steady_clock::now() - start);
    }
    return least;
  };
  const auto beside_few = time_of_one();
  ASSERT_TRUE(identities_.Add(ManyAccounts()).ok());
  EXPECT_LT(time_of_one(), 50 * beside_few);
}

TEST_F(IdentitiesTest, AccountsExchangeTheirCanonicalIds) {
  UsersDocument users;
  users.accounts = {{"first", "ann", "111122223333"}, {"second", "bob", "444455556666"}};
  ASSERT_TRUE(identities_.Add(users).ok());
  std::swap(users.accounts[0].id, users.accounts[1].id);
  ASSERT_TRUE(identities_.Add(users).ok());
  EXPECT_EQ(identities_.FindOwner("first")->display_name, "bob");
  EXPECT_EQ(identities_.FindOwner("second")->display_name, "ann");
  users.accounts = {{"second", "bob", "444455556666"}};
  EXPECT_FALSE(identities_.Add(users).ok()) << "ann has it";
  EXPECT_EQ(identities_.FindOwner("first")->display_name, "bob");
}

TEST_F(IdentitiesTest, UnknownNamespaceCreatesNothing) {
  // Regression: it was created silently, and the key found none of its buckets.
  const auto added = identities_.Add(
      Document(R"({"namespaces": ["suite"], "accounts": [{"account_id": "111122223333",
    "users": [{"name": "ann", "access_keys": [{"access_key_id": "K", "secret_access_key": "s", "namespace": "siute"}]}]}]})"));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(added.error().message,
            "accounts[0].users[0].access_keys[0].namespace: no namespace 'siute'; create it first, "
            "or list it in \"namespaces\": [\"siute\"] beside "
            "the accounts");
  EXPECT_FALSE(spaces_.contains("siute"));
  EXPECT_FALSE(spaces_.contains("suite")) << "no part of the document may be applied";
  EXPECT_EQ(identities_.FindUser("K"), nullptr);
}

TEST_F(IdentitiesTest, DocumentDoesNotMoveAKnownKey) {
  // Regression: it was moved silently, away from its buckets.
  ASSERT_TRUE(Open("suite").ok());
  ASSERT_TRUE(identities_.Change("b", {.name_space = "suite"}).ok());
  const auto document = [](const std::string& more) {
    return Document((R"({"accounts": [{"account_id": "111122223333", "access_keys": [
      {"access_key_id": "b", "secret_access_key": "new")" +
                     more + "}]}]}")
                        .c_str());
  };
  const auto moved = identities_.Add(document(R"(, "namespace": "default")"));
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().kind, ErrorKind::kAlreadyExists);
  EXPECT_TRUE(
      moved.error().message.starts_with("accounts[0].access_keys[0].namespace: access key 'b' "
                                        "selects namespace 'suite', not 'default';"))
      << moved.error().message;
  EXPECT_EQ(identities_.FindUser("b")->secret_access_key, "2");
  ASSERT_TRUE(identities_.Add(document("")).ok());  // a missing member keeps the namespace
  EXPECT_EQ(identities_.FindUser("b")->secret_access_key, "new");
  EXPECT_EQ(identities_.NamespaceOf(identities_.FindUser("b").get())->name, "suite");
  EXPECT_TRUE(identities_.Add(document(R"(, "namespace": "suite")")).ok());
}

TEST_F(IdentitiesTest, AUserThatIsAddedAgainIsReplacedAsAWhole) {
  const auto add = [this](const std::string& more) {
    ASSERT_TRUE(identities_
                    .Add(Document((R"({"accounts": [{"account_id": "111122223333",
      "groups": [{"name": "ml", "attached_policies": ["arn:aws:iam::aws:policy/ReadOnlyAccess"]}],
      "users": [{"name": "ann")" + more +
                                   "}]}]}")
                                      .c_str()))
                    .ok());
  };
  const auto policies = [this] { return identities_.FindUser("ANN")->identity.policies; };
  const std::string all = R"(, "groups": ["ml"],
      "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
      "permissions_boundary": "arn:aws:iam::aws:policy/AmazonS3FullAccess")";
  add(all + R"(, "access_keys": [{"access_key_id": "ANN", "secret_access_key": "s"}])");
  EXPECT_EQ(policies()->identity.size(), 2u);
  EXPECT_TRUE(policies()->boundary);
  add("");
  ASSERT_NE(identities_.FindUser("ANN"), nullptr) << "keys stay";
  EXPECT_TRUE(policies()->identity.empty());
  EXPECT_FALSE(policies()->boundary);
  add(all);
  add(R"(, "path": "/")");
  EXPECT_TRUE(policies()->identity.empty());
}

// Symptom: there were two users of the name, one with the keys and one with the policies.
TEST_F(IdentitiesTest, KeysFollowAUserThatMovesToAnotherPath) {
  const auto add = [this](const std::string& user) {
    ASSERT_TRUE(identities_
                    .Add(Document((R"({"accounts": [{"account_id": "111122223333", "users": [)" +
                                   user + "]}]}")
                                      .c_str()))
                    .ok());
  };
  add(R"({"name": "ann", "access_keys": [{"access_key_id": "ANN", "secret_access_key": "s"}]})");
  add(R"({"name": "ann", "path": "/new/"})");
  const s3::Identity moved = identities_.FindUser("ANN")->identity;
  EXPECT_EQ(moved.arn, "arn:aws:iam::111122223333:user/new/ann");
  EXPECT_EQ(moved.user_id, UniqueId("AIDA", moved.arn));
}

TEST_F(IdentitiesTest, AddIsAtomic) {
  const auto added = identities_.Add(Document(
      R"({"namespaces": ["broken"], "accounts": [{"account_id": "111122223333", "access_keys": [
    {"access_key_id": "K1", "secret_access_key": "s"},
    {"access_key_id": "K2", "secret_access_key": "s", "namespace": "broken"}]}]})"));
  EXPECT_FALSE(added.ok());
  EXPECT_EQ(identities_.FindUser("K1"), nullptr);
}

TEST_F(IdentitiesTest, RefusesASharedCanonicalId) {
  const std::string taken = MakeIdentity("a").owner_id;
  const auto added = identities_.Add(Document(
      (R"({"accounts": [{"account_id": "111122223333", "canonical_id": ")" + taken + "\"}]}")
          .c_str()));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, ErrorKind::kAlreadyExists);
}

TEST_F(IdentitiesTest, RenamedAccountAppliesToExistingKeys) {
  const std::string account = identities_.FindUser("a")->identity.account_id;
  const auto before = identities_.FindUser("a");
  ASSERT_TRUE(identities_
                  .Add(Document(("{\"accounts\": [{\"account_id\": \"" + account +
                                 "\", \"display_name\": \"new\"}]}")
                                    .c_str()))
                  .ok());
  EXPECT_EQ(identities_.FindUser("a")->identity.display_name, "new");
  EXPECT_EQ(before->identity.display_name, "a");  // a request keeps its user
}

TEST_F(IdentitiesTest, ChangesAndRemovesKeys) {
  ASSERT_TRUE(identities_.Change("a", {.active = false}).ok());
  EXPECT_FALSE(identities_.FindUser("a")->active);
  EXPECT_EQ(identities_.Change("a", {.expires = WallTime{}}).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(identities_.Change("c", {.active = false}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(identities_.Change("b", {.name_space = "other"}).error().kind, ErrorKind::kNotFound);
  ASSERT_TRUE(Open("other").ok());
  ASSERT_TRUE(identities_.Change("b", {.name_space = "other"}).ok());
  EXPECT_EQ(identities_.NamespaceOf(identities_.FindUser("b").get())->name, "other");
  ASSERT_TRUE(identities_.Remove("a").ok());
  EXPECT_EQ(identities_.Remove("a").error().kind, ErrorKind::kNotFound);
}

TEST_F(IdentitiesTest, RestoredKeyOpensOnlyItsOwnNamespace) {
  const server::TemporaryFolder folder;
  ASSERT_TRUE(UserDatabase::Open(folder.path(), store::Durability::kRelaxed)
                  .value()
                  ->Put(Document(R"({"accounts": [{"account_id": "111122223333", "access_keys": [
                    {"access_key_id": "K1", "secret_access_key": "s", "namespace": "suite"},
                    {"access_key_id": "K2", "secret_access_key": "s", "namespace": "suite"}]}]})"))
                  .ok());
  spaces_["suite"] = nullptr;  // exists and is not open
  const auto notices =
      identities_.Restore(UserDatabase::Open(folder.path(), store::Durability::kRelaxed).value());
  ASSERT_TRUE(notices.ok() && notices->empty());
  EXPECT_EQ(spaces_["suite"], nullptr);
  spaces_["suite"] = Open("suite").value();
  ASSERT_NE(identities_.FindUser("K1"), nullptr);
  EXPECT_EQ(identities_.NamespaceOf(identities_.FindUser("K1").get()), spaces_["suite"]->Current());
  ASSERT_TRUE(identities_.RemoveNamespace(*spaces_["suite"]).ok());  // K2 was never used
  EXPECT_EQ(identities_.FindUser("K1"), nullptr);
  EXPECT_EQ(identities_.FindUser("K2"), nullptr);
}

TEST_F(IdentitiesTest, KeysStayWhenRemovalFromDiskFails) {
  const server::TemporaryFolder folder;
  ASSERT_TRUE(
      identities_.Restore(UserDatabase::Open(folder.path(), store::Durability::kRelaxed).value())
          .ok());
  ASSERT_TRUE(Open("suite").ok());
  ASSERT_TRUE(identities_.Add(UsersOfNamespace("suite", {"K", "s"})).ok());
  const auto file = store::Connection::Open(folder.path() + "/users.db").value();
  ASSERT_TRUE(file->Execute("CREATE TRIGGER refuse BEFORE DELETE ON access_keys BEGIN SELECT "
                            "RAISE(ABORT, 'refused'); END")
                  .ok());
  EXPECT_FALSE(identities_.RemoveNamespace(*spaces_["suite"]).ok());
  EXPECT_NE(identities_.FindUser("K"), nullptr);
  ASSERT_TRUE(file->Execute("DROP TRIGGER refuse").ok());
  EXPECT_TRUE(identities_.RemoveNamespace(*spaces_["suite"]).ok());
  EXPECT_EQ(identities_.FindUser("K"), nullptr);
}

TEST_F(IdentitiesTest, AccountWithOtherKeysStays) {
  ASSERT_TRUE(Open("suite").ok());
  UsersDocument users = UsersOfNamespace("suite", {"MOVED", "s"});
  ASSERT_TRUE(identities_.Add(std::move(users)).ok());
  ASSERT_TRUE(identities_.Add(UsersOfNamespace("suite", {"LEFT", "s"})).ok());
  ASSERT_TRUE(identities_.Change("MOVED", {.name_space = "default"}).ok());
  ASSERT_TRUE(identities_.RemoveNamespace(*spaces_["suite"]).ok());
  EXPECT_EQ(identities_.FindUser("LEFT"), nullptr);
  EXPECT_TRUE(identities_.FindOwner(IdentityOfNamespace("suite").owner_id).has_value());
}

TEST_F(IdentitiesTest, ReadersWorkDuringChanges) {
  bool lost = false;
  {
    const std::jthread reader([&] {
      for (int i = 0; i < 2000; ++i) lost = lost || identities_.FindUser("a") == nullptr;
    });
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(identities_.Change("a", {.active = i % 2 == 0}).ok());
  }
  EXPECT_FALSE(lost);
  EXPECT_EQ(identities_.List().keys.size(), 2u);
}

}  // namespace
}  // namespace penstock::emulator::identity
