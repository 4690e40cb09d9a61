#include "emulator/server/identities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace penstock::emulator::server {
namespace {

TEST(IdentityTest, IsTheSameOnEveryRun) {
  // Made once with: printf 'penstock owner of penstock' | sha256sum
  EXPECT_EQ(MakeIdentity("penstock").owner_id, "1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6");
}

TEST(IdentityTest, HasTheFormsOfS3) {
  for (const char* key : {"penstock", "AKIAIOSFODNN7EXAMPLE", "x"}) {
    const api::Identity identity = MakeIdentity(key);
    EXPECT_EQ(identity.access_key_id, key);
    EXPECT_EQ(identity.owner_id.size(), 64u);
    EXPECT_EQ(identity.account_id.size(), 12u);
    EXPECT_EQ(identity.arn, "arn:aws:iam::" + identity.account_id + ":root");
    EXPECT_TRUE(std::all_of(identity.account_id.begin(), identity.account_id.end(),
                            [](unsigned char c) { return std::isdigit(c) != 0; }));
  }
}

TEST(IdentitiesTest, FindsEveryKeyInTheSharedUniverse) {
  const auto universe = Universe::Open({.clock = &SystemClock()});
  ASSERT_TRUE(universe.ok());
  const Identities identities({{"a", "1"}, {"b", "2"}}, **universe);
  ASSERT_NE(identities.FindUser("b"), nullptr);
  EXPECT_EQ(identities.FindUser("b")->secret_access_key, "2");
  EXPECT_NE(identities.FindUser("a")->identity.owner_id, identities.FindUser("b")->identity.owner_id);
  EXPECT_EQ(identities.FindUser("c"), nullptr);
  EXPECT_EQ(identities.NamespaceOf(identities.FindUser("a").get()), (*universe)->Current());
  EXPECT_EQ(identities.NamespaceOf(nullptr), (*universe)->Current());
  EXPECT_EQ(identities.DefaultIdentity().access_key_id, "a");
}

}  // namespace
}  // namespace penstock::emulator::server
