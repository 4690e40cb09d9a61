#include "emulator/identity/root_accounts.h"

#include <gtest/gtest.h>

namespace penstock::emulator::identity {
namespace {

RootAccount Own(const std::string& key) {
  const s3::Identity identity = MakeIdentity(key);
  return {key, {identity.owner_id, identity.display_name, identity.account_id}};
}
std::string Id(const std::string& key) { return MakeIdentity(key).owner_id; }

// What an previous run has stored, with buckets of these accounts.
PreviousRoots Previous(std::vector<RootAccount> roots, std::vector<std::string> owners) {
  return {.roots = std::move(roots), .bucket_owners = std::move(owners)};
}

TEST(RootAccountsTest, NewDirectoryUsesTheAccountOfTheName) {
  const RootPlan plan = AssignRootAccounts({{"a", "s"}, {"b", "s"}}, {.owners_may_be_roots = true});
  EXPECT_EQ(plan.identities[0].owner_id, Id("a"));
  EXPECT_EQ(plan.identities[1].owner_id, Id("b"));
  EXPECT_TRUE(plan.notices.empty());
  ASSERT_EQ(plan.roots.size(), 2u);
  EXPECT_EQ(plan.roots[1].account.id, Id("b"));
}

TEST(RootAccountsTest, AnotherKeyTakesOverTheAccount) {
  const RootPlan plan = AssignRootAccounts({{"b", "s"}}, Previous({Own("a")}, {Id("a")}));
  EXPECT_EQ(plan.identities[0].owner_id, Id("a"));
  EXPECT_EQ(plan.identities[0].account_id, MakeIdentity("a").account_id);
  EXPECT_EQ(plan.identities[0].arn, MakeIdentity("a").arn);
  EXPECT_EQ(plan.identities[0].access_key_id, "b");
  ASSERT_EQ(plan.notices.size(), 1u);
  EXPECT_TRUE(plan.notices[0].starts_with(
      "access key 'b' takes over the account of access key 'a' (account id "));
  // It keeps the account, even after its buckets are gone.
  const RootPlan next = AssignRootAccounts({{"b", "s"}}, Previous(plan.roots, {}));
  EXPECT_EQ(next.identities[0].owner_id, Id("a"));
  EXPECT_TRUE(next.notices.empty());
  // The old key returns to its account.
  const RootPlan back =
      AssignRootAccounts({{"a", "s"}, {"b", "s"}}, Previous(plan.roots, {Id("a")}));
  EXPECT_EQ(back.identities[0].owner_id, Id("a"));
  EXPECT_EQ(back.identities[1].owner_id, Id("a"));
}

TEST(RootAccountsTest, OfTwoKeysTheNewOneTakesOver) {
  const RootPlan plan = AssignRootAccounts({{"b", "s"}, {"c", "s"}},
                                           Previous({Own("a"), Own("b")}, {Id("a"), Id("b")}));
  EXPECT_EQ(plan.identities[0].owner_id, Id("b"));
  EXPECT_EQ(plan.identities[1].owner_id, Id("a"));
}

TEST(RootAccountsTest, AccountWithoutBucketsIsNotTakenOver) {
  const RootPlan plan = AssignRootAccounts({{"b", "s"}}, Previous({Own("a")}, {}));
  EXPECT_EQ(plan.identities[0].owner_id, Id("b"));
  EXPECT_TRUE(plan.notices.empty());
  EXPECT_EQ(plan.roots.size(), 1u);
}

TEST(RootAccountsTest, AccountWithoutKeyIsReportedAndStored) {
  const RootPlan plan =
      AssignRootAccounts({{"c", "s"}}, Previous({Own("a"), Own("b")}, {Id("a"), Id("b")}));
  EXPECT_EQ(plan.identities[0].owner_id, Id("a"));
  ASSERT_EQ(plan.notices.size(), 2u);
  EXPECT_TRUE(
      plan.notices[1].starts_with("there is no access key for the account of access key 'b'"));
  EXPECT_NE(plan.notices[1].find(Id("b")), std::string::npos);
  const RootPlan next =
      AssignRootAccounts({{"c", "s"}, {"d", "s"}}, Previous(plan.roots, {Id("a"), Id("b")}));
  EXPECT_EQ(next.identities[1].owner_id, Id("b"));
}

TEST(RootAccountsTest, AccountOfTheUsersFileIsNotTakenOver) {
  PreviousRoots previous = Previous({Own("a")}, {Id("a")});
  previous.documented_accounts.insert(Id("a"));
  const RootPlan plan = AssignRootAccounts({{"b", "s"}}, previous);
  EXPECT_EQ(plan.identities[0].owner_id, Id("b"));
  EXPECT_TRUE(plan.notices.empty());
}

TEST(RootAccountsTest, DirectoryOfAnOlderVersionUsesBucketOwners) {
  PreviousRoots previous = Previous({}, {Id("a")});
  previous.owners_may_be_roots = true;
  const RootPlan plan = AssignRootAccounts({{"b", "s"}}, previous);
  EXPECT_EQ(plan.identities[0].owner_id, Id("a"));
  EXPECT_EQ(plan.identities[0].account_id, MakeIdentity("a").account_id);
  const RootPlan same = AssignRootAccounts({{"b", "s"}, {"a", "s"}}, previous);
  EXPECT_EQ(same.identities[0].owner_id, Id("b"));
  EXPECT_EQ(same.identities[1].owner_id, Id("a"));
  previous.owners_may_be_roots = false;
  EXPECT_EQ(AssignRootAccounts({{"b", "s"}}, previous).identities[0].owner_id, Id("b"));
}

}  // namespace
}  // namespace penstock::emulator::identity
