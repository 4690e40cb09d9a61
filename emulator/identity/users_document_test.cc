#include "emulator/identity/users_document.h"

#include <gtest/gtest.h>

#include <ctime>

#include <nlohmann/json.hpp>

#include "base/dates.h"

namespace penstock::emulator::identity {
namespace {

constexpr const char* kTwoAccounts = R"({"accounts": [
  {"account_id": "111122223333", "display_name": "research",
   "access_keys": [{"access_key_id": "ROOTKEY", "secret_access_key": "root-secret"}],
   "users": [{"name": "ann", "path": "/team/", "access_keys": [
     {"access_key_id": "ANN1", "secret_access_key": "s1"},
     {"access_key_id": "ANN2", "secret_access_key": "s2", "active": false, "namespace": "suite-7"},
     {"access_key_id": "ANN3", "secret_access_key": "s3", "session_token": "t", "expires": "2026-01-01T00:00:00Z"}]}]},
  {"account_id": "444455556666",
   "canonical_id": "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"}]})";

TEST(UsersDocumentTest, ReadsAccountsUsersAndKeys) {
  const auto users = ParseUsers(kTwoAccounts);
  ASSERT_TRUE(users.ok()) << users.error().message;
  ASSERT_EQ(users->accounts.size(), 2u);
  EXPECT_EQ(users->accounts[0].display_name, "research");
  EXPECT_EQ(users->accounts[0].id.size(), 64u);
  EXPECT_EQ(users->accounts[1].id,
            "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be");
  ASSERT_EQ(users->keys.size(), 4u);
  EXPECT_EQ(users->keys[0].user.identity.arn, "arn:aws:iam::111122223333:root");
  EXPECT_EQ(users->keys[1].user.identity.arn, "arn:aws:iam::111122223333:user/team/ann");
  EXPECT_EQ(users->keys[1].user.identity.owner_id, users->accounts[0].id);
  EXPECT_FALSE(users->keys[2].user.active);
  EXPECT_EQ(users->keys[2].name_space, "suite-7");
  EXPECT_EQ(users->keys[2].place, "accounts[0].users[0].access_keys[1].namespace");
  EXPECT_EQ(users->keys[1].name_space, std::nullopt);
  EXPECT_EQ(users->keys[3].user.session_token, "t");
  EXPECT_EQ(FormatIso8601(*users->keys[3].user.expires), "2026-01-01T00:00:00.000Z");
}

TEST(UsersDocumentTest, ListHasNoSecretsAndCanBeParsed) {
  const auto users = ParseUsers(kTwoAccounts);
  ASSERT_TRUE(users.ok());
  const std::string text = UsersJson(*users);
  EXPECT_EQ(text.find("root-secret"), std::string::npos);
  EXPECT_EQ(text.find("session_token"), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("accounts").at(0).at("users").at(0).at("path"), "/team/");
  EXPECT_EQ(json.at("accounts").at(0).at("users").at(0).at("access_keys").size(), 3u);
  EXPECT_EQ(json.at("accounts").at(0).at("access_keys").at(0).at("access_key_id"), "ROOTKEY");
}

// Returns the processor time in seconds that listing `count` accounts takes.
double SecondsToList(int count) {
  UsersDocument users;
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(100'000'000'000 + i);
    users.accounts.push_back({"canonical " + id, id, id});
    KeyRecord key;
    key.user.access_key_id = "K" + id;
    key.user.identity.account_id = id;
    users.keys.push_back(std::move(key));
  }
  const std::clock_t began = std::clock();
  EXPECT_FALSE(UsersJson(users).empty());
  return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

// The time was quadratic: a list of 20,000 accounts took 4 s.
TEST(UsersDocumentTest, ListingTakesLinearTime) {
  const double few = SecondsToList(2'000);
  const double many = SecondsToList(16'000);
  EXPECT_LT(many, 24 * few + 0.1) << "2,000 accounts: " << few << " s, 16,000: " << many << " s";
}

struct BadUsers {
  const char* json;
  const char* message;  // the beginning of the message
};
class BadUsersTest : public testing::TestWithParam<BadUsers> {};

TEST_P(BadUsersTest, NamesThePlaceAndTheLimit) {
  const auto users = ParseUsers(GetParam().json);
  ASSERT_FALSE(users.ok());
  EXPECT_EQ(users.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(users.error().message.substr(0, std::string_view(GetParam().message).size()),
            GetParam().message);
  EXPECT_EQ(users.error().message.find("hush"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadUsersTest,
    testing::Values(
        BadUsers{"[]", "must be a JSON object"}, BadUsers{"{}", "the field 'accounts' is missing"},
        BadUsers{R"({"accounts": [{"account_id": "12"}]})",
                 "accounts[0].account_id: invalid account id '12': expected 12 digits"},
        BadUsers{R"({"accounts": [{"account_id": "111122223333", "canonical_id": "XY"}]})",
                 "accounts[0].canonical_id: invalid canonical id 'XY': expected 64 digits"},
        BadUsers{
            R"({"accounts": [{"account_id": "111122223333"}, {"account_id": "111122223333"}]})",
            "accounts[1]: account '111122223333'"},
        BadUsers{R"({"accounts": [{"account_id": "111122223333", "users": [{"name": "a b"}]}]})",
                 "accounts[0].users[0].name: invalid name 'a b'"},
        BadUsers{
            R"({"accounts": [{"account_id": "111122223333", "users": [{"name": "a", "path": "x"}]}]})",
            "accounts[0].users[0].path: invalid path 'x'"},
        BadUsers{
            R"({"accounts": [{"account_id": "111122223333", "access_keys": [{"access_key_id": "A/B", "secret_access_key": "hush"}]}]})",
            "accounts[0].access_keys[0].access_key_id: access key id 'A/B'"},
        BadUsers{
            R"({"accounts": [{"account_id": "111122223333", "access_keys": [{"access_key_id": "A"}]}]})",
            "accounts[0].access_keys[0]: the field 'secret_access_key' is missing"},
        BadUsers{R"({"accounts": [{"account_id": "111122223333", "access_keys": [
                   {"access_key_id": "A", "secret_access_key": "hush", "expires": "2026-01-01T00:00:00Z"}]}]})",
                 "accounts[0].access_keys[0].expires: only a temporary key expires"},
        BadUsers{R"({"accounts": [{"account_id": "111122223333", "access_keys": [
                   {"access_key_id": "A", "secret_access_key": "hush", "namespace": "../x"}]}]})",
                 "accounts[0].access_keys[0].namespace: invalid namespace name '../x'"},
        BadUsers{R"({"namespaces": "suite", "accounts": []})", "namespaces: must be a list"},
        BadUsers{R"({"namespaces": ["suite", 1], "accounts": []})",
                 "namespaces[1]: must be a string"},
        BadUsers{R"({"namespaces": [".x"], "accounts": []})",
                 "namespaces[0]: invalid namespace name '.x'"}));

TEST(IdentityTest, IsTheSameOnEveryRun) {
  // Computed with: printf 'penstock owner of penstock' | sha256sum
  EXPECT_EQ(MakeIdentity("penstock").owner_id,
            "1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6");
}

TEST(IdentityTest, HasTheFormatsOfS3) {
  for (const char* key : {"penstock", "AKIAIOSFODNN7EXAMPLE", "x"}) {
    const s3::Identity identity = MakeIdentity(key);
    EXPECT_EQ(identity.access_key_id, key);
    EXPECT_EQ(identity.owner_id.size(), 64u);
    EXPECT_EQ(identity.account_id.size(), 12u);
    EXPECT_EQ(identity.account_id.find_first_not_of("0123456789"), std::string::npos);
    EXPECT_EQ(identity.arn, "arn:aws:iam::" + identity.account_id + ":root");
  }
}

}  // namespace
}  // namespace penstock::emulator::identity
