#include "emulator/policy/evaluator.h"

#include <gtest/gtest.h>

#include "emulator/policy/policy_test_support.h"

namespace penstock::emulator::policy {
namespace {

using testing::Identity;
using testing::MapContext;
using testing::Resource;

constexpr std::string_view kAllowGet =
    R"({"Statement":{"Sid":"Get","Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::b/*"}})";
constexpr std::string_view kAllowPut =
    R"({"Statement":{"Effect":"Allow","Action":"s3:Put*","Resource":"*"}})";
constexpr std::string_view kDenyGet =
    R"({"Statement":{"Effect":"Deny","Action":"s3:GetObject","Resource":"*"}})";

std::string ResourcePolicy(std::string_view effect, std::string_view principal) {
  return R"({"Statement":{"Effect":")" + std::string(effect) + R"(","Principal":)" +
         std::string(principal) + R"(,"Action":"s3:*","Resource":"arn:aws:s3:::b/*"}})";
}
constexpr std::string_view kUser = R"({"AWS":"arn:aws:iam::111122223333:user/ann"})";
constexpr std::string_view kRole = R"({"AWS":"arn:aws:iam::111122223333:role/reader"})";
constexpr std::string_view kSession =
    R"({"AWS":"arn:aws:sts::111122223333:assumed-role/reader/job"})";
constexpr std::string_view kAccount = R"({"AWS":"111122223333"})";

class PolicyEvaluatorTest : public ::testing::Test {
 protected:
  PolicyEvaluatorTest() {
    request_.action = "s3:GetObject";
    request_.resource = "arn:aws:s3:::b/k";
    request_.same_account = true;
    request_.context = &context_;
    SetUser();
  }
  void SetUser() {
    request_.principal = {.type = Principal::Type::kUser,
                          .account_id = "111122223333",
                          .canonical_id = "canonical",
                          .arn = "arn:aws:iam::111122223333:user/ann",
                          .policies = &policies_};
  }
  void SetSession() {
    request_.principal = {.type = Principal::Type::kRoleSession,
                          .account_id = "111122223333",
                          .canonical_id = "canonical",
                          .arn = "arn:aws:sts::111122223333:assumed-role/reader/job",
                          .role_arn = "arn:aws:iam::111122223333:role/reader",
                          .policies = &policies_};
  }
  void SetRoot() {
    request_.principal = {.type = Principal::Type::kRoot,
                          .account_id = "111122223333",
                          .canonical_id = "canonical",
                          .arn = "arn:aws:iam::111122223333:root"};
  }
  void AddIdentity(std::string_view json) {
    policies_.identity.push_back({"user/ann/p", Identity(json)});
  }
  void SetResource(std::string_view effect, std::string_view principal) {
    resource_ = Resource(ResourcePolicy(effect, principal));
    request_.resource_policy = resource_.get();
  }
  // "allow identity-policy", "explicit deny resource-policy", "deny identity-policy".
  std::string Decided() const {
    const Decision decision = Evaluate(request_);
    const std::string kind = decision.allowed           ? "allow "
                             : decision.explicit_deny() ? "explicit deny "
                                                        : "deny ";
    return kind + std::string(NameOf(decision.source));
  }

  MapContext context_;
  PrincipalPolicies policies_;
  std::shared_ptr<const Document> resource_;
  Request request_;
};

TEST_F(PolicyEvaluatorTest, NothingIsAllowedByDefault) {
  EXPECT_EQ(Decided(), "deny identity-policy");
  request_.same_account = false;
  EXPECT_EQ(Decided(), "deny resource-policy");
}

TEST_F(PolicyEvaluatorTest, TheDecidingStatementIsNamed) {
  AddIdentity(kAllowPut);
  AddIdentity(kAllowGet);
  const Decision decision = Evaluate(request_);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.policy, "user/ann/p");
  EXPECT_EQ(decision.statement->sid, "Get");
  EXPECT_EQ(decision.statement_index, 0);
}

TEST_F(PolicyEvaluatorTest, ExplicitDeniesOfEveryPolicyCount) {
  AddIdentity(kAllowGet);
  SetResource("Allow", kUser);
  EXPECT_EQ(Decided(), "allow resource-policy");
  policies_.session = {"session", Identity(kDenyGet)};
  EXPECT_EQ(Decided(), "explicit deny session-policy");
  policies_.boundary = {"boundary", Identity(kDenyGet)};
  EXPECT_EQ(Decided(), "explicit deny permissions-boundary");
  AddIdentity(kDenyGet);
  EXPECT_EQ(Decided(), "explicit deny identity-policy");
  SetResource("Deny", "\"*\"");
  EXPECT_EQ(Decided(), "explicit deny resource-policy");
}

TEST_F(PolicyEvaluatorTest, RootsAreAllowedInTheirAccount) {
  SetRoot();
  EXPECT_EQ(Decided(), "allow account-root");
  SetResource("Deny", "\"*\"");
  EXPECT_EQ(Decided(), "explicit deny resource-policy");
  request_.root_always = true;
  EXPECT_EQ(Decided(), "allow account-root");
}

TEST_F(PolicyEvaluatorTest, BoundariesAndSessionsLimitIdentityPolicies) {
  AddIdentity(kAllowGet);
  EXPECT_EQ(Decided(), "allow identity-policy");
  policies_.boundary = {"boundary", Identity(kAllowPut)};
  EXPECT_EQ(Decided(), "deny permissions-boundary");
  policies_.boundary = {"boundary", Identity(kAllowGet)};
  EXPECT_EQ(Decided(), "allow identity-policy");
  policies_.session = {"session", Identity(kAllowPut)};
  EXPECT_EQ(Decided(), "deny session-policy");
}

// IAM User Guide, "Evaluating policies within a single account".
TEST_F(PolicyEvaluatorTest, ResourcePoliciesAloneAllowInTheirAccount) {
  SetResource("Allow", kAccount);
  EXPECT_EQ(Decided(), "deny identity-policy") << "the account delegates to its policies";
  policies_.boundary = {"boundary", Identity(kAllowPut)};
  SetResource("Allow", kUser);
  EXPECT_EQ(Decided(), "allow resource-policy") << "a user is not limited by its boundary";
  SetResource("Allow", "\"*\"");
  EXPECT_EQ(Decided(), "deny identity-policy") << "everyone is";
  policies_.boundary.reset();
  EXPECT_EQ(Decided(), "allow resource-policy");
  policies_.session = {"session", Identity(kAllowPut)};
  SetResource("Allow", kUser);
  EXPECT_EQ(Decided(), "deny identity-policy");
}

TEST_F(PolicyEvaluatorTest, ResourcePoliciesForRoles) {
  SetSession();
  policies_.session = {"session", Identity(kAllowPut)};
  SetResource("Allow", kRole);
  EXPECT_EQ(Decided(), "deny identity-policy") << "the session policy limits the role";
  SetResource("Allow", kSession);
  EXPECT_EQ(Decided(), "allow resource-policy") << "but not the session";
  policies_.session.reset();
  SetResource("Allow", kRole);
  EXPECT_EQ(Decided(), "allow resource-policy");
}

TEST_F(PolicyEvaluatorTest, BothAccountsMustAllow) {
  request_.same_account = false;
  AddIdentity(kAllowGet);
  EXPECT_EQ(Decided(), "deny resource-policy");
  SetResource("Allow", kAccount);
  EXPECT_EQ(Decided(), "allow resource-policy");
  policies_.identity.clear();
  EXPECT_EQ(Decided(), "deny identity-policy");
  SetResource("Allow", kUser);
  EXPECT_EQ(Decided(), "deny identity-policy");
  SetRoot();
  EXPECT_EQ(Decided(), "deny resource-policy");
  SetResource("Allow", kAccount);
  EXPECT_EQ(Decided(), "allow resource-policy");
}

TEST_F(PolicyEvaluatorTest, AnonymousRequests) {
  request_.principal = {};
  request_.same_account = false;
  SetResource("Allow", kAccount);
  EXPECT_EQ(Decided(), "deny resource-policy");
  SetResource("Allow", "\"*\"");
  EXPECT_EQ(Decided(), "allow resource-policy");
  request_.resource_policy_allows = false;
  EXPECT_EQ(Decided(), "deny resource-policy");
  request_.acl = AclGrant::kToGroup;
  EXPECT_EQ(Decided(), "allow acl");
}

TEST_F(PolicyEvaluatorTest, AclsOfAnAccountNeedItsIdentityPolicies) {
  request_.acl = AclGrant::kToAccount;
  EXPECT_EQ(Decided(), "deny identity-policy");
  request_.same_account = false;
  EXPECT_EQ(Decided(), "deny identity-policy");
  AddIdentity(kAllowGet);
  EXPECT_EQ(Decided(), "allow acl");
  request_.same_account = true;
  request_.acl = AclGrant::kToGroup;
  EXPECT_EQ(Decided(), "allow acl");
}

TEST_F(PolicyEvaluatorTest, InitiatorsNeedNoPolicyWithinTheirLimits) {
  for (const bool same_account : {true, false}) {
    request_.same_account = same_account;
    request_.acl = AclGrant::kToInitiator;
    EXPECT_EQ(Decided(), "allow initiator");
    policies_.boundary = {"boundary", Identity(kAllowPut)};
    EXPECT_NE(Decided(), "allow initiator");
    policies_.boundary.reset();
    SetResource("Deny", "\"*\"");
    EXPECT_EQ(Decided(), "explicit deny resource-policy");
    request_.resource_policy = nullptr;
  }
}

// Amazon S3 User Guide, "Troubleshoot access denied (403 Forbidden) errors in Amazon S3".
TEST_F(PolicyEvaluatorTest, ReasonsAreThoseOfAws) {
  EXPECT_EQ(DenialReason(Evaluate(request_), "s3:GetObject"),
            "because no identity-based policy allows the s3:GetObject action");
  AddIdentity(kAllowGet);
  policies_.boundary = {"boundary", Identity(kAllowPut)};
  EXPECT_EQ(DenialReason(Evaluate(request_), "s3:GetObject"),
            "because no permissions boundary allows the s3:GetObject action");
  SetResource("Deny", "\"*\"");
  EXPECT_EQ(DenialReason(Evaluate(request_), "s3:GetObject"),
            "with an explicit deny in a resource-based policy");
}

}  // namespace
}  // namespace penstock::emulator::policy
