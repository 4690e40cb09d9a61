#include "emulator/lifecycle/account.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penstock::emulator::lifecycle {
namespace {

Action Expire(const std::string& key) {
  Action action;
  action.key = ObjectKey(key);
  action.version_id = VersionId("null");
  action.rule_id = "old";
  action.size = 7;
  return action;
}

TEST(AccountTest, OutcomesAreCountedByRule) {
  Account account;
  account.Add("b", Expire("1"), {});
  account.Add("b", Expire("2"), {OutcomeKind::kLocked, {}});
  account.Add("b", Expire("3"), {OutcomeKind::kChanged, {}});
  account.Add("b", Expire("4"), {OutcomeKind::kFailed, "disk full"});
  account.Add("b", Expire("5"), {OutcomeKind::kFailed, "later"});
  account.time = WallTime{};
  const auto json = nlohmann::json::parse(AccountJson("default", account));
  EXPECT_EQ(json["actions"], 1);
  EXPECT_EQ(json["next"], nullptr);
  EXPECT_EQ(json["time"], "1970-01-01T00:00:00.000Z");
  const auto& bucket = json["buckets"][0];
  EXPECT_EQ(bucket["rules"][0]["id"], "old");
  EXPECT_EQ(bucket["rules"][0]["actions"], nlohmann::json({{"expire_object", 1}}));
  EXPECT_EQ(bucket["locked"], 1);
  EXPECT_EQ(bucket["changed"], 1);
  EXPECT_EQ(bucket["failed"], 2);
  EXPECT_EQ(bucket["error"], "disk full");
  EXPECT_EQ(json["log"].size(), 1u);
  EXPECT_EQ(json["log"][0]["key"], "1");
  EXPECT_EQ(json["log"][0]["to"], nullptr);
}

TEST(AccountTest, TheLogIsBoundedAndTheCountsAreNot) {
  Account account;
  for (std::size_t i = 0; i < Account::kMaxLogged + 5; ++i)
    account.Add("b", Expire(std::to_string(i)), {});
  Account sum;
  sum.Add("a", Expire("first"), {});
  sum.Merge(std::move(account));
  EXPECT_EQ(sum.entries().size(), Account::kMaxLogged);
  EXPECT_EQ(sum.actions(), Account::kMaxLogged + 6);
  const auto json = nlohmann::json::parse(AccountJson("default", sum));
  EXPECT_EQ(json["omitted"], 6);
  EXPECT_EQ(json["buckets"].size(), 2u);
}

}  // namespace
}  // namespace penstock::emulator::lifecycle
