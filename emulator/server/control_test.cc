#include "emulator/server/control.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/fake_clock.h"
#include "emulator/identity/user_database_check.h"
#include "emulator/s3/dispatch/router.h"
#include "emulator/server/namespaces/data_directory.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

class ControlTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Control>> Open(const EmulatorOptions& options) {
    return Control::Open(options, nullptr, SystemClock(), *router_);
  }

  const std::unique_ptr<s3::Handler> router_ = s3::MakeRouter({});
};

constexpr const char* kAnn =
    R"({"namespaces": ["ann"], "accounts": [{"account_id": "111122223333", "users": [
  {"name": "ann", "access_keys": [{"access_key_id": "ANN", "secret_access_key": "s", "namespace": "ann"}]}]}]})";

TEST_F(ControlTest, FirstKeyIsTheDefaultIdentity) {
  EXPECT_EQ((*Open({.access_keys = {{"a", "1"}, {"b", "2"}}}))
                ->identities()
                .DefaultIdentity()
                .access_key_id,
            "a");
  EXPECT_EQ((*Open({.users_json = kAnn}))->identities().DefaultIdentity().user_name, "ann");
  EXPECT_EQ((*Open({}))->identities().DefaultIdentity().access_key_id, "penstock");
}

TEST_F(ControlTest, ReadsUsersFromAFile) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/users.json") << kAnn;
  const auto control = Open({.users_path = folder.path() + "/users.json"});
  ASSERT_TRUE(control.ok());
  EXPECT_EQ((*control)->Names(), (std::vector<std::string>{"default", "ann"}));
  const auto missing = Open({.users_path = folder.path() + "/nothing.json"});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find(folder.path() + "/nothing.json'"), std::string::npos);
  const std::string bad = folder.path() + "/bad.json";
  std::ofstream(bad) << R"({"accounts": 1})";
  const auto refused = Open({.users_path = bad});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "users file '" + bad + "': accounts: must be a list");
}

TEST_F(ControlTest, NamesAnUnknownNamespaceAndTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/users.json";
  std::ofstream(path) << R"({"accounts": [{"account_id": "111122223333", "access_keys": [
    {"access_key_id": "K", "secret_access_key": "s", "namespace": "siute"}]}]})";
  const auto control = Open({.data_directory = folder.path() + "/data", .users_path = path});
  ASSERT_FALSE(control.ok());
  EXPECT_TRUE(
      control.error().message.starts_with("users file '" + path +
                                          "': accounts[0].access_keys[0].namespace: there is no "
                                          "namespace 'siute'; existing namespaces: default;"))
      << control.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/data/namespaces/siute"));
}

TEST_F(ControlTest, ErrorInUsersChangesNothing) {
  const TemporaryFolder folder;
  const std::string data = folder.path() + "/data";
  EXPECT_FALSE(Open({.data_directory = data, .users_json = "{"}).ok());
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST_F(ControlTest, NewNamespacesHaveUniqueKeys) {
  const auto control = Open({});
  ASSERT_TRUE(control.ok());
  const auto one = (*control)->CreateNamespace("one");
  const auto two = (*control)->CreateNamespace("two");
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->id, two->id);
  EXPECT_NE(one->secret, two->secret);
  EXPECT_EQ(
      (*control)->identities().NamespaceOf((*control)->identities().FindUser(one->id).get())->name,
      "one");
}

std::string OwnerIdOf(const Control& control, const std::string& key) {
  const auto user = control.identities().FindUser(key);
  return user ? user->identity.owner_id : std::string();
}

TEST_F(ControlTest, NamespaceAndKeySurviveARestart) {
  // Regression: it was given a new key, and the first one was unknown.
  const TemporaryFolder folder;
  AccessKey key;
  std::string owner;
  {
    const auto control = Open({.data_directory = folder.path()});
    key = (*control)->CreateNamespace("kept").value();
    owner = OwnerIdOf(**control, key.id);
  }
  const auto control = Open({.data_directory = folder.path()});
  ASSERT_TRUE(control.ok());
  const auto user = (*control)->identities().FindUser(key.id);
  ASSERT_NE(user, nullptr);
  EXPECT_EQ(user->secret_access_key, key.secret);
  EXPECT_EQ((*control)->identities().NamespaceOf(user.get())->name, "kept");
  EXPECT_EQ((*control)->CreateNamespace("kept").error().kind, ErrorKind::kAlreadyExists);
  // Without the secret, a user removes the key and creates the namespace again to get a new key of
  // the same account.
  ASSERT_TRUE((*control)->RemoveKey(key.id).ok());
  const auto again = (*control)->CreateNamespace("kept");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(OwnerIdOf(**control, again->id), owner);
}

TEST_F(ControlTest, UsersOfTheAdminApiSurviveARestart) {
  const TemporaryFolder folder;
  {
    const auto control = Open({.data_directory = folder.path()});
    ASSERT_TRUE((*control)->AddUsers(kAnn).ok());
    ASSERT_TRUE((*control)
                    ->AddUsers(R"({"accounts": [{"account_id": "444455556666", "access_keys": [
      {"access_key_id": "GONE", "secret_access_key": "s"}, {"access_key_id": "OFF", "secret_access_key": "s"}]}]})")
                    .ok());
    ASSERT_TRUE((*control)->RemoveKey("GONE").ok());
    ASSERT_TRUE((*control)->ChangeKey("OFF", {.active = false}).ok());
    ASSERT_TRUE((*control)->CreateNamespace("lost").ok());
    ASSERT_TRUE((*control)->DeleteNamespace("lost").ok());
  }
  const auto control = Open({.data_directory = folder.path()});
  ASSERT_TRUE(control.ok()) << control.error().message;
  const identity::Identities& identities = (*control)->identities();
  ASSERT_NE(identities.FindUser("ANN"), nullptr);
  EXPECT_EQ(identities.NamespaceOf(identities.FindUser("ANN").get())->name, "ann");
  EXPECT_EQ(identities.FindUser("ANN")->identity.user_name, "ann");
  EXPECT_EQ(identities.FindUser("GONE"), nullptr);
  ASSERT_NE(identities.FindUser("OFF"), nullptr);
  EXPECT_FALSE(identities.FindUser("OFF")->active);
  EXPECT_EQ(identities.List().keys.size(), 2u);
  EXPECT_EQ(identities.List().accounts.size(), 2u);
  EXPECT_TRUE((*control)->notices().empty());
}

TEST_F(ControlTest, OptionsTakePrecedenceWithANotice) {
  const TemporaryFolder folder;
  const char* const given =
      R"({"accounts": [{"account_id": "111122223333", "display_name": "file", "access_keys": [
    {"access_key_id": "ANN", "secret_access_key": "of-the-file"}]}]})";
  {
    const auto control = Open({.data_directory = folder.path()});
    ASSERT_TRUE((*control)->AddUsers(kAnn).ok());
  }
  {
    const auto control = Open({.data_directory = folder.path(), .users_json = given});
    ASSERT_TRUE(control.ok()) << control.error().message;
    EXPECT_EQ((*control)->identities().FindUser("ANN")->secret_access_key, "of-the-file");
    EXPECT_EQ((*control)->notices(),
              (std::vector<std::string>{"account '111122223333': the definition given at this "
                                        "start overrides the one in the data directory",
                                        "access key 'ANN': the definition given at this start "
                                        "overrides the one in the data directory"}));
    ASSERT_TRUE((*control)->ChangeKey("ANN", {.active = false}).ok());
  }
  const auto control = Open({.data_directory = folder.path()});
  EXPECT_EQ((*control)->identities().FindUser("ANN")->secret_access_key, "s")
      << "a change of the given key must be stored";
  EXPECT_TRUE((*control)->identities().FindUser("ANN")->active)
      << "only the key given at the start was changed";
}

// For example, its disk is not mounted.
TEST_F(ControlTest, KeepsTheKeysOfAMissingNamespace) {
  const TemporaryFolder folder;
  const std::string there = folder.path() + "/data/namespaces";
  const std::string away = folder.path() + "/away";
  const EmulatorOptions options{.data_directory = folder.path() + "/data"};
  ASSERT_TRUE((*Open(options))->AddUsers(kAnn).ok());
  std::filesystem::rename(there, away);
  {
    const auto control = Open(options);
    ASSERT_EQ((*control)->notices().size(), 1u);
    EXPECT_TRUE((*control)->notices()[0].starts_with(
        "access key 'ANN': the directory of its namespace 'ann' was missing at this start"));
    const auto ann = (*control)->identities().FindUser("ANN");
    ASSERT_NE(ann, nullptr);
    EXPECT_EQ((*control)->identities().NamespaceOf(ann.get()), nullptr) << "for 503";
  }
  std::filesystem::remove_all(there);
  std::filesystem::rename(away, there);
  const auto control = Open(options);
  EXPECT_TRUE((*control)->notices().empty());
  const auto ann = (*control)->identities().FindUser("ANN");
  ASSERT_NE(ann, nullptr);
  EXPECT_NE((*control)->identities().NamespaceOf(ann.get()), nullptr);
}

TEST_F(ControlTest, FinishesARecordedDeletion) {
  const TemporaryFolder folder;
  const std::string ann = folder.path() + "/namespaces/ann";
  const EmulatorOptions options{.data_directory = folder.path()};
  const auto record = [&ann] {
    const auto directory = DataDirectory::Open(ann).value();
    ASSERT_TRUE(directory->MarkDeleted().ok());
  };
  ASSERT_TRUE((*Open(options))->AddUsers(kAnn).ok());
  record();  // simulates kill -9 during a deletion
  {
    const auto control = Open(options);
    EXPECT_EQ((*control)->identities().FindUser("ANN"), nullptr);
    EXPECT_EQ(
        (*control)->notices(),
        std::vector<std::string>{"access key 'ANN' was removed: its namespace 'ann' was deleted"});
    EXPECT_FALSE(std::filesystem::exists(ann));
    ASSERT_TRUE((*control)->AddUsers(kAnn).ok());
  }
  record();
  // A new namespace of that name does not get the old key.
  const auto control = Open({.data_directory = folder.path(),
                             .users_json = R"({"namespaces": ["ann"], "accounts": []})"});
  ASSERT_TRUE(control.ok()) << control.error().message;
  EXPECT_EQ((*control)->identities().FindUser("ANN"), nullptr);
  EXPECT_TRUE(std::filesystem::exists(ann));
}

TEST_F(ControlTest, UsersAndNamespacesChangeFromManyThreads) {
  const TemporaryFolder folder;
  {
    const auto control = Open({.data_directory = folder.path()}).value();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&control, t] {
        const std::string name = "n" + std::to_string(t % 2);
        const std::string key = "K" + std::to_string(t);
        const std::string users = R"({"accounts": [{"account_id": "111122223333", "access_keys": [
          {"access_key_id": ")" + key +
                                  R"(", "secret_access_key": "s", "namespace": ")" + name +
                                  "\"}]}]}";
        for (int i = 0; i < 10; ++i) {
          const auto made = control->CreateNamespace(name);
          EXPECT_TRUE(made.ok() || made.error().kind == ErrorKind::kAlreadyExists);
          const auto added = control->AddUsers(users);
          EXPECT_TRUE(added.ok() || added.error().kind == ErrorKind::kNotFound)
              << added.error().message;
          if (const auto user = control->identities().FindUser(key)) {
            EXPECT_TRUE(control->identities().NamespaceOf(user.get())->store->ListBuckets().ok());
          }
          const auto deleted = control->DeleteNamespace(name);
          EXPECT_TRUE(deleted.ok() || deleted.error().kind == ErrorKind::kNotFound)
              << deleted.error().message;
        }
      });
    }
  }
  const auto report = identity::CheckUserDatabase(folder.path(), [&](const std::string& name) {
    return Namespaces::StateOf(folder.path(), name);
  });
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE((*report)->findings.empty());
  const auto again = Open({.data_directory = folder.path()});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE((*again)->notices().empty()) << (*again)->notices().front();
}

TEST_F(ControlTest, NewAccessKeyTakesOverTheAccount) {
  // Regression: with another key the default namespace responded with 403.
  const TemporaryFolder folder;
  const auto start = [&](const std::string& key) {
    return Open({.data_directory = folder.path(), .access_keys = {{key, "s"}}}).value();
  };
  std::string owner;
  {
    const auto control = start("first");
    store::BucketRecord bucket;
    bucket.name = BucketName("bucket");
    bucket.owner_id = owner = OwnerIdOf(*control, "first");
    const auto space = control->identities().NamespaceOf(nullptr);
    ASSERT_TRUE(space->store->CreateBucket(bucket).ok());
  }
  EXPECT_FALSE(Open({.data_directory = folder.path(),
                     .access_keys = {{"wrong", "s"}},
                     .users_json = R"({"accounts": [
    {"account_id": "111122223333", "access_keys": [{"access_key_id": "K", "secret_access_key": "s", "namespace": "none"}]}]})"})
                   .ok());
  {
    const auto control = start("second");
    EXPECT_EQ(OwnerIdOf(*control, "second"), owner);
    ASSERT_EQ(control->notices().size(), 1u) << "the failed start must not change the directory";
    EXPECT_TRUE(control->notices()[0].starts_with(
        "access key 'second' takes over the account of access key 'first'"));
  }
  const auto control = start("second");
  EXPECT_EQ(OwnerIdOf(*control, "second"), owner) << "must keep the account";
  EXPECT_EQ(control->identities().DefaultIdentity().owner_id, owner);
  EXPECT_TRUE(control->notices().empty()) << "the notice must appear only once";
}

TEST_F(ControlTest, OpensADirectoryOfAnOlderVersionWithAnotherKey) {
  const TemporaryFolder folder;
  {
    const auto control = Open({.data_directory = folder.path(), .access_keys = {{"first", "s"}}});
    store::BucketRecord bucket;
    bucket.name = BucketName("bucket");
    bucket.owner_id = identity::MakeIdentity("first").owner_id;
    ASSERT_TRUE((*control)->identities().NamespaceOf(nullptr)->store->CreateBucket(bucket).ok());
  }
  // That version had no users.db.
  for (const char* file : {"/users.db", "/users.db-mark", "/created-users"})
    std::filesystem::remove(folder.path() + file);
  EXPECT_FALSE(Open({.data_directory = folder.path(),
                     .access_keys = {{"wrong", "s"}},
                     .users_json = R"({"accounts": [
    {"account_id": "111122223333", "access_keys": [{"access_key_id": "K", "secret_access_key": "s", "namespace": "none"}]}]})"})
                   .ok());
  const auto control = Open({.data_directory = folder.path(), .access_keys = {{"second", "s"}}});
  ASSERT_TRUE(control.ok());
  EXPECT_EQ(OwnerIdOf(**control, "second"), identity::MakeIdentity("first").owner_id)
      << "also after a failed start";
  ASSERT_EQ((*control)->notices().size(), 1u);
}

TEST_F(ControlTest, EachNamespaceHasItsClock) {
  const auto control = Open({});
  ASSERT_TRUE(control.ok());
  ASSERT_TRUE((*control)->CreateNamespace("one").ok());
  ASSERT_TRUE((*control)->ChangeClock("one", {.advance = std::chrono::hours(5)}).ok());
  EXPECT_EQ((*control)->GetClock("one")->offset, std::chrono::hours(5));
  EXPECT_EQ((*control)->GetClock("default")->offset, std::chrono::hours(0));
  ASSERT_TRUE((*control)->ResetNamespace("one").ok());
  EXPECT_EQ((*control)->GetClock("one")->offset, std::chrono::hours(0));
  EXPECT_EQ((*control)->GetClock("two").error().kind, ErrorKind::kNotFound);
}

TEST_F(ControlTest, StopEndsWaitsForNewJournals) {
  // Regression: Stop hung while a client was ready to wait for the journal of a namespace that was
  // reset meanwhile.
  const auto control = Open({});
  ASSERT_TRUE(control.ok());
  (*control)->StopWaits();
  ASSERT_TRUE((*control)->ResetNamespace("default").ok());
  ASSERT_TRUE((*control)->CreateNamespace("one").ok());
  const MonotonicTime began = SystemClock().Monotonic();
  for (const char* const name : {"default", "one"}) {
    const auto reading = (*control)->AwaitJournal(name, 0, std::chrono::seconds(20));
    ASSERT_TRUE(reading.ok());
    EXPECT_EQ(reading->size(), 0u);
  }
  EXPECT_LT(SystemClock().Monotonic() - began, std::chrono::seconds(10));
}

constexpr char kManyRequests[] =
    R"({"ranks": 1000, "rounds": 20, "file_bytes": 1, "limits": "aws-strict", "client": "crt"})";

TEST_F(ControlTest, SimulationEndsAfterAMinute) {
  FakeClock clock;
  const auto control = Control::Open({}, nullptr, clock, *router_);
  ASSERT_TRUE(control.ok());
  const auto report = (*control)->Simulate({.job = kManyRequests, .cancelled = [&] {
                                              clock.Advance(std::chrono::seconds(61));
                                              return false;
                                            }});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(report.error().message,
            "the simulation took more than 60 s, which is the limit: use fewer ranks, files, "
            "rounds or connections_per_rank");
}

TEST_F(ControlTest, SimulationEndsWhenTheCallerCancelsOrTheEmulatorStops) {
  const auto control = Open({});
  ASSERT_TRUE(control.ok());
  const auto cancelled =
      (*control)->Simulate({.job = kManyRequests, .cancelled = [] { return true; }});
  ASSERT_FALSE(cancelled.ok());
  EXPECT_EQ(cancelled.error().kind, ErrorKind::kCancelled);
  (*control)->StopWaits();
  const auto stopped = (*control)->Simulate({.job = kManyRequests});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, ErrorKind::kUnavailable);
}

TEST_F(ControlTest, StopEndsAnImportOfUsersBeforeAnyIsAdded) {
  const auto control = Open({});
  ASSERT_TRUE(control.ok());
  const std::string before = UsersJson((*control)->identities().List());
  (*control)->StopWaits();
  const Result<void> added = (*control)->AddUsers(kAnn);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(added.error().message,
            "the emulator is stopping and added no users; send them after a restart");
  EXPECT_EQ(UsersJson((*control)->identities().List()), before);
  EXPECT_EQ((*control)->Names(), (std::vector<std::string>{"default"}));
}

}  // namespace
}  // namespace penstock::emulator::server
