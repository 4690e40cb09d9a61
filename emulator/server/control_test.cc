#include "emulator/server/control.h"

#include <gtest/gtest.h>

#include "emulator/api/router.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

class ControlTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Control>> Open(const EmulatorOptions& options) { return Control::Open(options, SystemClock(), *router_); }

  const std::unique_ptr<api::Handler> router_ = api::MakeRouter({});
};

constexpr const char* kAnn = R"({"namespaces": ["ann"], "accounts": [{"account_id": "111122223333", "users": [
  {"name": "ann", "access_keys": [{"access_key_id": "ANN", "secret_access_key": "s", "namespace": "ann"}]}]}]})";

TEST_F(ControlTest, TheFirstKeyGivenIsTheDefaultIdentity) {
  EXPECT_EQ((*Open({.access_keys = {{"a", "1"}, {"b", "2"}}}))->identities().DefaultIdentity().access_key_id, "a");
  EXPECT_EQ((*Open({.users_json = kAnn}))->identities().DefaultIdentity().user_name, "ann");
  EXPECT_EQ((*Open({}))->identities().DefaultIdentity().access_key_id, "penstock");
}

TEST_F(ControlTest, UsersComeFromAFileToo) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/users.json") << kAnn;
  const auto control = Open({.users_path = folder.path() + "/users.json"});
  ASSERT_TRUE(control.ok());
  EXPECT_EQ((*control)->Names(), (std::vector<std::string>{"default", "ann"}));
  EXPECT_FALSE(Open({.users_path = folder.path() + "/nothing.json"}).ok());
}

TEST_F(ControlTest, AMistypedNamespaceOfTheFileIsNamedWithTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/users.json";
  std::ofstream(path) << R"({"accounts": [{"account_id": "111122223333", "access_keys": [
    {"access_key_id": "K", "secret_access_key": "s", "namespace": "siute"}]}]})";
  const auto control = Open({.data_directory = folder.path() + "/data", .users_path = path});
  ASSERT_FALSE(control.ok());
  EXPECT_TRUE(control.error().message.starts_with("users file '" + path + "': accounts[0].access_keys[0].namespace: there is no "
                                                  "namespace 'siute'; there is default;"))
      << control.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/data/namespaces/siute"));
}

TEST_F(ControlTest, AMistakeInUsersLeavesNoTrace) {
  const TemporaryFolder folder;
  const std::string data = folder.path() + "/data";
  EXPECT_FALSE(Open({.data_directory = data, .users_json = "{"}).ok());
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST_F(ControlTest, NewNamespacesHaveKeysThatNobodyElseHas) {
  const auto control = Open({});
  ASSERT_TRUE(control.ok());
  const auto one = (*control)->CreateNamespace("one");
  const auto two = (*control)->CreateNamespace("two");
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->id, two->id);
  EXPECT_NE(one->secret, two->secret);
  EXPECT_EQ((*control)->identities().NamespaceOf((*control)->identities().FindUser(one->id).get())->name, "one");
}

TEST_F(ControlTest, ANamespaceFoundOnDiskGetsAKeyOfTheAccountThatItHad) {
  const TemporaryFolder folder;
  std::string owner;
  {
    const auto control = Open({.data_directory = folder.path()});
    ASSERT_TRUE(control.ok());
    const auto key = (*control)->CreateNamespace("kept");
    ASSERT_TRUE(key.ok());
    owner = (*control)->identities().FindUser(key->id)->identity.owner_id;
  }
  const auto control = Open({.data_directory = folder.path()});
  ASSERT_TRUE(control.ok());
  const auto key = (*control)->CreateNamespace("kept");
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_EQ((*control)->identities().FindUser(key->id)->identity.owner_id, owner);
  EXPECT_EQ((*control)->CreateNamespace("kept").error().kind, ErrorKind::kAlreadyExists);
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

}  // namespace
}  // namespace penstock::emulator::server
