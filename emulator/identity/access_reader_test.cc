#include "emulator/identity/access_reader.h"

#include <gtest/gtest.h>

#include "emulator/identity/users_document.h"

namespace penstock::emulator::identity {
namespace {

constexpr const char* kAllow =
    R"({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})";
constexpr const char* kTrust =
    R"({"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "111122223333"}}]})";

// A document with one account that has these members.
std::string Account(const std::string& members) {
  return R"({"accounts": [{"account_id": "111122223333", )" + members + "}]}";
}

std::string RoleWith(const std::string& members) {
  return Account(R"("roles": [{"name": "trainer", "trust_policy": )" + std::string(kTrust) +
                 members + "}]");
}

TEST(AccessReaderTest, TagsAreChecked) {
  const auto problem = [](const std::string& tags) {
    return ParseUsers(RoleWith(R"(, "tags": )" + tags)).error().message;
  };
  EXPECT_EQ(
      ParseUsers(RoleWith(R"(, "tags": {"team": "red"})"))->access.front().roles.at("trainer").tags,
      (Tags{{"team", "red"}}));
  EXPECT_EQ(problem("[]"), "accounts[0].roles[0].tags: must be an object of keys and values");
  EXPECT_EQ(
      problem(R"({"": "x"})"),
      "accounts[0].roles[0].tags: invalid tag '': expected a key of 1 to 128 characters and a "
      "string of up to 256 characters");
  EXPECT_NE(problem(R"({"a": 1})").find("invalid tag 'a'"), std::string::npos);
  EXPECT_NE(problem(R"({"a": ")" + std::string(257, 'x') + "\"}").find("invalid tag 'a'"),
            std::string::npos);
  EXPECT_EQ(problem(R"({"team": "a", "Team": "b"})"),
            "accounts[0].roles[0].tags: tag 'Team' is given twice; case does not count");
  std::string many = "{";
  for (int i = 0; i < 51; ++i) many += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_EQ(problem(many + "}"), "accounts[0].roles[0].tags: has 51 tags; the limit is 50");
}

TEST(AccessReaderTest, ReadsEveryKindOfEntity) {
  const auto users = ParseUsers(Account(
      R"("managed_policies": [{"name": "read", "path": "/team/", "document": )" +
      std::string(kAllow) +
      R"(}], "groups": [{"name": "ml", "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]}],
         "users": [{"name": "ann", "groups": ["ml"], "access_keys": [
             {"access_key_id": "ANN", "secret_access_key": "hush"}]}, {"name": "bob"},
             {"name": "eve", "tags": {"team": "red", "cost": ""}}],
         "roles": [{"name": "trainer", "max_session_duration": 7200, "instance_profile": true,
             "container": true, "container_token": "hush", "namespace": "suite", "trust_policy": )" +
      kTrust + "}]"));
  ASSERT_TRUE(users.ok()) << users.error().message;
  ASSERT_EQ(users->access.size(), 1u);
  const AccountAccess& access = users->access.front();
  EXPECT_EQ(access.account_id, "111122223333");
  EXPECT_EQ(access.managed_policies.at("read").path, "/team/");
  EXPECT_EQ(access.groups.at("ml").policies.attached_policies.size(), 1u);
  EXPECT_EQ(access.users.at("ann").groups, std::vector<std::string>{"ml"});
  EXPECT_TRUE(access.users.contains("bob")) << "it replaces a user of that name";
  EXPECT_EQ(access.users.at("eve").tags, (Tags{{"team", "red"}, {"cost", ""}}));
  const Role& role = access.roles.at("trainer");
  EXPECT_EQ(role.max_session_duration, std::chrono::hours(2));
  EXPECT_TRUE(role.instance_profile && role.container);
  EXPECT_EQ(role.container_token, "hush");
  EXPECT_EQ(role.name_space, "suite");

  const std::string listed = UsersJson(*users);
  EXPECT_EQ(listed.find("hush"), std::string::npos);
  EXPECT_NE(listed.find("max_session_duration"), std::string::npos);
  EXPECT_EQ(access.users.at("ann").json.find("hush"), std::string::npos);
  AccountAccess again{.account_id = "111122223333"};
  ASSERT_TRUE(ReadEntity(kRoleKind, role.json, again).ok());
  EXPECT_EQ(again.roles.at("trainer").container_token, "hush") << "the database keeps it";
}

struct BadAccess {
  std::string json;
  const char* message;  // the beginning of the message
};
class BadAccessTest : public testing::TestWithParam<BadAccess> {};

TEST_P(BadAccessTest, NamesThePlace) {
  const auto users = ParseUsers(GetParam().json);
  ASSERT_FALSE(users.ok());
  EXPECT_EQ(users.error().message.substr(0, std::string_view(GetParam().message).size()),
            GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadAccessTest,
    testing::Values(
        BadAccess{Account(R"("roles": [{"name": "r"}])"),
                  "accounts[0].roles[0].trust_policy: is missing"},
        BadAccess{Account(R"("roles": [{"name": "r", "trust_policy": {"Statement": []}}])"),
                  "accounts[0].roles[0].trust_policy: Statement: "},
        BadAccess{RoleWith(R"(, "max_session_duration": 60)"),
                  "accounts[0].roles[0].max_session_duration: must be 3600 to 43200 seconds"},
        BadAccess{RoleWith(R"(, "container_token": "t")"),
                  "accounts[0].roles[0].container_token: the role is not for containers"},
        BadAccess{RoleWith(R"(, "namespace": "../x")"),
                  "accounts[0].roles[0].namespace: invalid namespace name"},
        BadAccess{RoleWith(R"(, "color": "red")"), "accounts[0].roles[0]"},
        BadAccess{Account(R"("groups": [{"name": "g"}, {"name": "g"}])"),
                  "accounts[0].groups[1].name: group 'g' is given twice"},
        BadAccess{Account(R"("groups": [{"name": "g", "attached_policies": [""]}])"),
                  "accounts[0].groups[0].attached_policies[0]: must be a string"},
        BadAccess{Account(R"("managed_policies": [{"name": "p", "document": {"Statement": 1}}])"),
                  "accounts[0].managed_policies[0].document: "},
        BadAccess{
            Account(R"("users": [{"name": "a", "inline_policies": [
                    {"name": "p", "document": )" +
                    std::string(kAllow) + R"(}, {"name": "p", "document": )" + kAllow + "}]}]"),
            "accounts[0].users[0].inline_policies[1].name: policy 'p' is given twice"},
        BadAccess{Account(R"("token_providers": [{"issuer": "http://a", "audiences": ["b"]}])"),
                  "accounts[0].token_providers[0].issuer: invalid issuer 'http://a'"},
        BadAccess{Account(R"("token_providers": [{"issuer": "https://a"}])"),
                  "accounts[0].token_providers[0].audiences: is missing or empty"},
        BadAccess{Account(R"("token_providers": [{"issuer": "https://a", "audiences": ["b"]}])"),
                  "accounts[0].token_providers[0]: give either keys"},
        BadAccess{
            Account(
                R"("token_providers": [{"issuer": "https://a", "audiences": ["b"], "keys": {"keys": [{"kty": "RSA"}]}}])"),
            "accounts[0].token_providers[0].keys: keys[0]: must be a public key"}));

TEST(AccessReaderTest, LimitsTheSizeOfPolicies) {
  const std::string sid(2'048, 'x');
  const auto users = ParseUsers(Account(
      R"("users": [{"name": "a", "inline_policies": [{"name": "p", "document": {"Id": ")" + sid +
      R"(", "Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}}]}])"));
  ASSERT_FALSE(users.ok());
  EXPECT_NE(users.error().message.find("the limit is 2048"), std::string::npos)
      << users.error().message;
}

}  // namespace
}  // namespace penstock::emulator::identity
