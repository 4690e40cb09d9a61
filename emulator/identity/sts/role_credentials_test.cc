#include "emulator/identity/sts/role_credentials.h"

#include <gtest/gtest.h>

#include "emulator/identity/sts/sts_fixture.h"

namespace penstock::emulator::identity {
namespace {

class RoleCredentialsTest : public StsTest {
 protected:
  std::string Key(const char* session = "i-1") {
    const auto current = credentials_.Get("111122223333", RoleNamed("trainer"), session);
    return current.ok() ? current->session.access_key_id : current.error().message;
  }
  RoleCredentials credentials_{identities_};
};

TEST_F(RoleCredentialsTest, AreRenewedFiveMinutesBeforeTheyExpire) {
  const std::string first = Key();
  EXPECT_TRUE(first.starts_with("ASIA"));
  clock_.Advance(kRoleCredentialsDuration - kRenewedBeforeExpiry - std::chrono::seconds(1));
  EXPECT_EQ(Key(), first);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_NE(Key(), first);
  EXPECT_TRUE(identities_.IsSession(first)) << "the old ones are valid until they expire";
}

TEST_F(RoleCredentialsTest, AreRenewedAfterTheirDeletion) {
  const std::string first = Key();
  ASSERT_TRUE(identities_.Remove(first).ok());
  EXPECT_NE(Key(), first);
}

TEST_F(RoleCredentialsTest, EachNameHasItsSession) {
  EXPECT_NE(Key("i-1"), Key("i-2"));
  EXPECT_EQ(identities_.FindUser(Key("i-1"))->identity.arn,
            "arn:aws:sts::111122223333:assumed-role/trainer/i-1");
}

TEST_F(RoleCredentialsTest, TheNamespaceMustExist) {
  Role role = RoleNamed("trainer");
  role.name_space = "missing";
  EXPECT_EQ(credentials_.Get("111122223333", role, "i-1").error().kind, ErrorKind::kNotFound);
}

TEST_F(RoleCredentialsTest, TheRoleOfAnInstanceIsTheMarkedOne) {
  const auto role = identities_.InstanceRole();
  ASSERT_TRUE(role);
  EXPECT_EQ(role->first, "111122223333");
  EXPECT_EQ(role->second.name, "trainer");
}

}  // namespace
}  // namespace penstock::emulator::identity
