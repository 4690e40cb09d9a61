#include "emulator/policy/principal.h"

#include <gtest/gtest.h>

namespace penstock::emulator::policy {
namespace {

constexpr std::string_view kCanonical =
    "79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be";

Principal Root() {
  return {.type = Principal::Type::kRoot,
          .account_id = "111122223333",
          .canonical_id = kCanonical,
          .arn = "arn:aws:iam::111122223333:root"};
}
Principal User() {
  return {.type = Principal::Type::kUser,
          .account_id = "111122223333",
          .canonical_id = kCanonical,
          .arn = "arn:aws:iam::111122223333:user/ann",
          .user_id = "AIDAANN"};
}
Principal Session() {
  return {.type = Principal::Type::kRoleSession,
          .account_id = "111122223333",
          .canonical_id = kCanonical,
          .arn = "arn:aws:sts::111122223333:assumed-role/reader/job",
          .role_arn = "arn:aws:iam::111122223333:role/team/reader",
          .user_id = "AROAREADER:job"};
}

Naming Named(const Principal& principal, std::vector<std::string> aws) {
  PrincipalElement element;
  element.aws = std::move(aws);
  return NamingOf(element, principal);
}

TEST(PolicyPrincipalTest, AccountsAreNamedInTwoForms) {
  for (const char* account : {"111122223333", "arn:aws:iam::111122223333:root"}) {
    EXPECT_EQ(Named(Root(), {account}), Naming::kDirect);
    EXPECT_EQ(Named(User(), {account}), Naming::kAccount);
    EXPECT_EQ(Named(Session(), {account}), Naming::kAccount);
    EXPECT_EQ(Named({}, {account}), Naming::kNone);
  }
  EXPECT_EQ(Named(User(), {"444455556666", "arn:aws:iam::444455556666:root"}), Naming::kNone);
}

TEST(PolicyPrincipalTest, UsersAndSessionsAreNamedByArnOrId) {
  EXPECT_EQ(Named(User(), {"arn:aws:iam::111122223333:user/ann"}), Naming::kDirect);
  EXPECT_EQ(Named(User(), {"arn:aws:iam::111122223333:user/bob"}), Naming::kNone);
  EXPECT_EQ(Named(User(), {"AIDAANN"}), Naming::kDirect);
  EXPECT_EQ(Named(Session(), {"arn:aws:sts::111122223333:assumed-role/reader/job"}),
            Naming::kDirect);
  EXPECT_EQ(Named(Session(), {"arn:aws:iam::111122223333:role/team/reader"}), Naming::kRole);
  EXPECT_EQ(Named(Session(), {"AROAREADER"}), Naming::kRole);
  EXPECT_EQ(Named(Root(), {"arn:aws:iam::111122223333:user/ann"}), Naming::kNone);
}

TEST(PolicyPrincipalTest, CanonicalIdsAndEveryone) {
  PrincipalElement canonical;
  canonical.canonical_users = {std::string(kCanonical)};
  EXPECT_EQ(NamingOf(canonical, Root()), Naming::kDirect);
  EXPECT_EQ(NamingOf(canonical, User()), Naming::kAccount);
  EXPECT_EQ(NamingOf(canonical, {}), Naming::kNone);
  PrincipalElement everyone;
  everyone.everyone = true;
  EXPECT_EQ(NamingOf(everyone, {}), Naming::kEveryone);
  everyone.aws = {"*", "arn:aws:iam::111122223333:user/ann"};
  EXPECT_EQ(NamingOf(everyone, User()), Naming::kDirect);
}

TEST(PolicyPrincipalTest, NotPrincipalExemptsAPrincipalWithAllItsForms) {
  const auto applies = [](const Principal& principal, std::vector<std::string> aws) {
    PrincipalElement element;
    element.negated = true;
    element.aws = std::move(aws);
    return NamingOf(element, principal) != Naming::kNone;
  };
  const std::string root = "arn:aws:iam::111122223333:root";
  const std::string user = "arn:aws:iam::111122223333:user/ann";
  EXPECT_FALSE(applies(User(), {root, user}));
  EXPECT_TRUE(applies(User(), {user}));
  EXPECT_TRUE(applies(User(), {root}));
  EXPECT_FALSE(applies(Root(), {root}));
  EXPECT_TRUE(applies({}, {root, user}));
  EXPECT_FALSE(applies(Session(), {root, "arn:aws:iam::111122223333:role/team/reader",
                                   "arn:aws:sts::111122223333:assumed-role/reader/job"}));
  EXPECT_TRUE(applies(Session(), {root, "arn:aws:iam::111122223333:role/team/reader"}));
}

}  // namespace
}  // namespace penstock::emulator::policy
