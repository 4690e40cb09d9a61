#include "emulator/identity/sts/trust.h"

#include <gtest/gtest.h>

#include "emulator/identity/sts/sts_fixture.h"
#include "emulator/policy/document.h"

namespace penstock::emulator::identity {
namespace {

class TrustTest : public StsTest {
 protected:
  bool May(const char* key, const char* role, const char* session = "job",
           IdentityPolicies policies = IdentityPolicies::kEvaluated) {
    const Signed request(*this, key);
    StsContext context(request.exchange);
    context.Set("sts:RoleSessionName", session);
    return MayAssume(request.exchange.identity, "111122223333", RoleNamed(role), context, policies);
  }
};

TEST_F(TrustTest, AUserThatIsNamedNeedsNoPolicy) {
  EXPECT_TRUE(May("ANN", "trainer"));
  EXPECT_FALSE(May("BOB", "trainer"));
}

// Unlike other resource policies: the identity policies alone do not suffice.
TEST_F(TrustTest, APolicyOfTheUserDoesNotReplaceTrust) { EXPECT_FALSE(May("EVE", "trainer")); }

TEST_F(TrustTest, AnAccountThatIsNamedDelegatesToPolicies) {
  EXPECT_TRUE(May("EVE", "anyone"));
  EXPECT_FALSE(May("BOB", "anyone"));
  EXPECT_TRUE(May("BOB", "anyone", "job", IdentityPolicies::kIgnored));
  EXPECT_FALSE(May("FOREIGN", "anyone", "job", IdentityPolicies::kIgnored));
}

TEST_F(TrustTest, AConditionDenies) {
  EXPECT_FALSE(May("ANN", "trainer", "denied"));
  EXPECT_FALSE(May("ANN", "trainer", "denied", IdentityPolicies::kIgnored));
}

TEST_F(TrustTest, TagsOfTheCallerAreConditions) {
  const auto add = [&](const std::string& tags) {
    const auto added = identities_.Add(
        ParseUsers(R"({"accounts": [{"account_id": "111122223333", "users": [{"name": "ann")" +
                   tags + R"(}], "roles": [{"name": "red", "trust_policy": {"Statement":
             {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "arn:aws:iam::111122223333:user/ann"},
              "Condition": {"StringEquals": {"aws:PrincipalTag/team": "red"}}}}}]}]})")
            .value());
    EXPECT_TRUE(added.ok());
  };
  add("");
  EXPECT_FALSE(May("ANN", "red"));
  add(R"(, "tags": {"team": "blue"})");
  EXPECT_FALSE(May("ANN", "red"));
  add(R"(, "tags": {"Team": "red"})");
  EXPECT_TRUE(May("ANN", "red"));
}

TEST_F(TrustTest, ATokenNeedsTheProviderAndTheSubject) {
  const Signed request(*this, "");
  StsContext context(request.exchange);
  context.SetAll("issuer.example:sub", {"job-7"});
  const std::string provider = "arn:aws:iam::111122223333:oidc-provider/issuer.example";
  EXPECT_TRUE(MayAssumeWithToken(RoleNamed("trainer"), provider, context));
  EXPECT_FALSE(MayAssumeWithToken(RoleNamed("trainer"), provider + "/other", context));
  EXPECT_FALSE(MayAssumeWithToken(RoleNamed("anyone"), provider, context));
  context.SetAll("issuer.example:sub", {"other"});
  EXPECT_FALSE(MayAssumeWithToken(RoleNamed("trainer"), provider, context));
}

TEST_F(TrustTest, ADenialOfEveryoneIsForTokensToo) {
  const Signed request(*this, "");
  const StsContext context(request.exchange);
  const auto may = [&](const std::string& statement) {
    const Role role{.trust_policy = policy::ParseTrustPolicy(
                                        R"({"Statement": [{"Effect": "Allow", "Action": "sts:*",
                                        "Principal": {"Federated": "issuer"}})" +
                                        statement + "]}")
                                        .value()};
    return MayAssumeWithToken(role, "issuer", context);
  };
  EXPECT_TRUE(may(""));
  for (const char* const principal :
       {R"("*")", R"({"AWS": "*"})", R"({"Federated": "*"})", R"({"Federated": "issuer"})"}) {
    EXPECT_FALSE(may(R"(, {"Effect": "Deny", "Action": "sts:*", "Principal": )" +
                     std::string(principal) + "}"))
        << principal;
  }
  EXPECT_TRUE(may(R"(, {"Effect": "Deny", "Action": "*", "Principal": {"Federated": "other"}})"));
}

TEST_F(TrustTest, TheContextDescribesTheCaller) {
  const Signed request(*this, "ANN");
  const StsContext context(request.exchange);
  EXPECT_EQ(context.Find("aws:username")->front(), "ann");
  EXPECT_EQ(context.Find("aws:principalarn")->front(), "arn:aws:iam::111122223333:user/ann");
  EXPECT_EQ(context.Find("aws:sourceip")->front(), "127.0.0.1");
  EXPECT_EQ(context.Find("sts:externalid"), std::nullopt);
  const Signed root(*this, "ROOT");
  EXPECT_EQ(StsContext(root.exchange).Find("aws:userid")->front(), "111122223333");
  EXPECT_EQ(StsContext(root.exchange).Find("aws:username"), std::nullopt);
}

}  // namespace
}  // namespace penstock::emulator::identity
