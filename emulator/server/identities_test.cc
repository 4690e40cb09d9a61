#include "emulator/server/identities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace penstock::emulator::server {
namespace {

TEST(IdentityTest, IsTheSameOnEveryRun) {
  // Made once with: printf 'penstock owner of penstock' | sha256sum
  EXPECT_EQ(IdentityOf("penstock").owner_id, "1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6");
}

TEST(IdentityTest, HasTheFormsOfS3) {
  for (const char* key : {"penstock", "AKIAIOSFODNN7EXAMPLE", "x"}) {
    const api::Identity identity = IdentityOf(key);
    EXPECT_EQ(identity.access_key_id, key);
    EXPECT_EQ(identity.owner_id.size(), 64u);
    EXPECT_EQ(identity.account_id.size(), 12u);
    EXPECT_TRUE(std::all_of(identity.account_id.begin(), identity.account_id.end(),
                            [](unsigned char c) { return std::isdigit(c) != 0; }));
  }
}

TEST(IdentitiesTest, FindsEveryKeyInTheSharedUniverse) {
  const auto universe = Universe::Open({.clock = &SystemClock()});
  ASSERT_TRUE(universe.ok());
  const Identities identities({{"a", "1"}, {"b", "2"}}, **universe);
  ASSERT_TRUE(identities.FindUser("b").has_value());
  EXPECT_EQ(identities.FindUser("b")->secret_access_key, "2");
  EXPECT_NE(identities.FindUser("a")->identity.owner_id, identities.FindUser("b")->identity.owner_id);
  EXPECT_FALSE(identities.FindUser("c").has_value());
  EXPECT_EQ(identities.NamespaceFor(IdentityOf("a")), (*universe)->Current());
  EXPECT_EQ(identities.NamespaceFor({}), (*universe)->Current());
}

}  // namespace
}  // namespace penstock::emulator::server
