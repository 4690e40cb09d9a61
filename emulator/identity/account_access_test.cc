#include "emulator/identity/account_access.h"

#include <gtest/gtest.h>

#include "emulator/identity/users_document.h"

namespace penstock::emulator::identity {
namespace {

constexpr const char* kDocument = R"({"accounts": [{"account_id": "111122223333",
  "managed_policies": [{"name": "write", "path": "/team/", "document": {"Statement":
     {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}}}],
  "groups": [{"name": "ml", "attached_policies": ["arn:aws:iam::111122223333:policy/team/write"]}],
  "users": [{"name": "ann", "groups": ["ml"],
     "inline_policies": [{"name": "own", "document": {"Statement":
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}}}],
     "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"],
     "permissions_boundary": "arn:aws:iam::aws:policy/AmazonS3FullAccess"}],
  "roles": [{"name": "trainer", "path": "/jobs/", "attached_policies": ["arn:aws:iam::aws:policy/AdministratorAccess"],
     "trust_policy": {"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"}}}]}]})";

AccountAccess Access(const char* json = kDocument) {
  auto users = ParseUsers(json);
  EXPECT_TRUE(users.ok()) << (users.ok() ? "" : users.error().message);
  return users.ok() ? std::move(users->access.front()) : AccountAccess();
}

std::string Names(const policy::PrincipalPolicies& policies) {
  std::string names;
  for (const policy::NamedPolicy& each : policies.identity) names += each.name + " ";
  return names;
}

TEST(AccountAccessTest, AUserHasItsOwnPoliciesAndThoseOfItsGroups) {
  const AccountAccess access = Access();
  ASSERT_TRUE(CheckReferences(access).ok());
  const auto policies = PoliciesOfUser(&access, "ann");
  EXPECT_EQ(Names(*policies),
            "user/ann/own arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess "
            "arn:aws:iam::111122223333:policy/team/write ");
  EXPECT_EQ(policies->boundary->name, "arn:aws:iam::aws:policy/AmazonS3FullAccess");
  EXPECT_FALSE(policies->session);
  EXPECT_TRUE(PoliciesOfUser(&access, "bob")->identity.empty());
  EXPECT_TRUE(PoliciesOfUser(nullptr, "ann")->identity.empty());
}

TEST(AccountAccessTest, SessionPoliciesOfARoleAreOne) {
  const AccountAccess access = Access();
  const Role& role = access.roles.at("trainer");
  const DocumentPtr one = FindManagedPolicy(access, "arn:aws:iam::111122223333:policy/team/write");
  ASSERT_NE(one, nullptr);
  EXPECT_FALSE(PoliciesOfRole(access, role, {})->session);
  const auto policies = PoliciesOfRole(access, role, {one, one});
  EXPECT_EQ(policies->session->document->statements.size(), 2u);
  EXPECT_EQ(Names(*policies), "arn:aws:iam::aws:policy/AdministratorAccess ");
  EXPECT_EQ(RoleArn("111122223333", role), "arn:aws:iam::111122223333:role/jobs/trainer");
}

TEST(AccountAccessTest, FindsManagedPoliciesByTheirWholeArn) {
  const AccountAccess access = Access();
  for (const char* const name :
       {"AmazonS3FullAccess", "AmazonS3ReadOnlyAccess", "AdministratorAccess", "ReadOnlyAccess"}) {
    const std::string arn = "arn:aws:iam::aws:policy/" + std::string(name);
    EXPECT_NE(FindManagedPolicy(access, arn), nullptr) << name;
    EXPECT_FALSE(ManagedPolicyJson(access, arn).empty()) << name;
  }
  EXPECT_NE(ManagedPolicyJson(access, "arn:aws:iam::111122223333:policy/team/write"), "");
  for (const char* const arn : {"arn:aws:iam::111122223333:policy/write", "write", "",
                                "arn:aws:iam::444455556666:policy/team/write"}) {
    EXPECT_EQ(FindManagedPolicy(access, arn), nullptr) << arn;
    EXPECT_EQ(ManagedPolicyJson(access, arn), "") << arn;
  }
}

TEST(AccountAccessTest, UnknownReferencesAreErrors) {
  AccountAccess access = Access();
  access.groups.clear();
  EXPECT_NE(CheckReferences(access).error().message.find("user 'ann' names the unknown group 'ml'"),
            std::string::npos);
  access = Access();
  access.managed_policies.clear();
  EXPECT_NE(
      CheckReferences(access).error().message.find(
          "group 'ml' names the unknown policy 'arn:aws:iam::111122223333:policy/team/write'"),
      std::string::npos);
}

TEST(AccountAccessTest, ABoundaryThatIsUnknownAllowsNothing) {
  AccountAccess access = Access();
  access.users.at("ann").policies.permissions_boundary = "arn:aws:iam::111122223333:policy/gone";
  EXPECT_TRUE(PoliciesOfUser(&access, "ann")->boundary->document->statements.empty());
}

TEST(AccountAccessTest, NewerEntitiesReplaceThoseWithTheirName) {
  AccountAccess access = Access();
  AccountAccess newer{.account_id = "111122223333"};
  newer.groups["ml"].path = "/new/";
  newer.groups["other"];
  access.Merge(newer);
  EXPECT_EQ(access.groups.at("ml").path, "/new/");
  EXPECT_EQ(access.groups.size(), 2u);
  EXPECT_EQ(access.roles.size(), 1u);
}

}  // namespace
}  // namespace penstock::emulator::identity
