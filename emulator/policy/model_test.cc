// The evaluator against a second evaluation (slow_evaluator_testing.h) on random policies and
// requests. PENSTOCK_POLICY_MODEL_REQUESTS sets the number of requests, PENSTOCK_SEED the seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "emulator/policy/evaluator.h"
#include "emulator/policy/policy_test_support.h"
#include "emulator/policy/slow_evaluator_testing.h"

namespace penstock::emulator::policy {
namespace {

using Json = nlohmann::json;

constexpr const char* kAccounts[] = {"111122223333", "444455556666"};

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Draws policies and requests from small sets of names, so that they often match.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  bool Chance(int percent) { return Below(100) < static_cast<std::size_t>(percent); }
  std::size_t Below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  std::string One(std::initializer_list<const char*> of) { return of.begin()[Below(of.size())]; }
  Json Some(std::initializer_list<const char*> of) {
    if (Chance(50)) return One(of);
    Json list = Json::array();
    for (std::size_t i = 0; i < 1 + Below(3); ++i) list.push_back(One(of));
    return list;
  }

  Json Policy(bool of_resource) {
    Json policy;
    if (Chance(80)) policy["Version"] = "2012-10-17";
    policy["Statement"] = Json::array();
    for (std::size_t i = 0; i < 1 + Below(4); ++i)
      policy["Statement"].push_back(Statement(of_resource));
    return policy;
  }

  slow::Question Question() {
    slow::Question question;
    question.type = One({"anonymous", "root", "user", "user", "session", "session"});
    if (question.type != "anonymous") DrawPrincipal(question);
    question.action = One({"s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject"});
    question.resource = One({"arn:aws:s3:::b", "arn:aws:s3:::b/k", "arn:aws:s3:::b/home/ann/f",
                             "arn:aws:s3:::b/a*b", "arn:aws:s3:::c/k"});
    question.same_account = question.type != "anonymous" && Chance(60);
    question.bucket_policy_may_allow = Chance(90);
    question.acl = Chance(80) ? "" : One({"account", "group", "initiator"});
    if (question.type == "anonymous" && !question.acl.empty()) question.acl = "group";
    question.root_always = Chance(10);
    DrawContext(question);
    return question;
  }

 private:
  Json Statement(bool of_resource) {
    Json statement;
    statement["Effect"] = Chance(75) ? "Allow" : "Deny";
    const bool denies = statement["Effect"] == "Deny";
    if (of_resource) statement[denies && Chance(30) ? "NotPrincipal" : "Principal"] = Principal();
    statement[Chance(90) ? "Action" : "NotAction"] =
        Some({"s3:GetObject", "s3:Get*", "s3:*Object", "S3:PUTOBJECT", "*", "s3:L?stBucket", "s3:*",
              "iam:*"});
    statement[Chance(90) ? "Resource" : "NotResource"] = Some(
        {"arn:aws:s3:::b", "arn:aws:s3:::b/*", "*", "arn:aws:s3:::*", "arn:aws:s3:::?/k",
         "arn:aws:s3:::b/home/${aws:username}/*", "arn:aws:s3:::b/home/${aws:UserName, 'ann'}/*",
         "arn:aws:s3:::b/a${*}b", "arn:aws:s3:::b/home/*/f"});
    for (std::size_t i = Below(3); Chance(50) && i > 0; --i) AddCondition(statement["Condition"]);
    return statement;
  }

  Json Principal() {
    if (Chance(25)) return "*";
    Json principal;
    principal["AWS"] =
        Some({"*", "111122223333", "arn:aws:iam::111122223333:root",
              "arn:aws:iam::444455556666:root", "arn:aws:iam::111122223333:user/ann",
              "arn:aws:iam::444455556666:user/ann", "arn:aws:iam::111122223333:role/reader",
              "AROAREADER", "AIDAANN", "arn:aws:sts::111122223333:assumed-role/reader/job"});
    if (Chance(15)) principal["CanonicalUser"] = Some({"c111122223333", "c444455556666"});
    return principal;
  }

  void AddCondition(Json& condition) {
    std::string set = Chance(75) ? "" : One({"ForAllValues:", "ForAnyValue:"});
    const std::string ending = Chance(20) ? "IfExists" : "";
    switch (Below(8)) {
      case 0:
        condition["Null"][One({"s3:prefix", "aws:username", "aws:TagKeys", "s3:absent"})] =
            One({"true", "false"});
        return;
      case 1:
        condition[set +
                  One({"NumericEquals", "NumericNotEquals", "NumericLessThan",
                       "NumericLessThanEquals", "NumericGreaterThan", "NumericGreaterThanEquals"}) +
                  ending]["s3:max-keys"] = Some({"10", "9.5", "11", "1e1"});
        return;
      case 2:
        condition[set +
                  One({"DateEquals", "DateNotEquals", "DateLessThan", "DateLessThanEquals",
                       "DateGreaterThan", "DateGreaterThanEquals"}) +
                  ending][One({"aws:CurrentTime", "aws:EpochTime"})] =
            Some({"2026-01-02T03:04:05Z", "2026-01-02", "1767323045", "2024-02-29T00:00:00Z",
                  "2030-12-31T23:59:59Z"});
        return;
      case 3:
        condition[One({"IpAddress", "NotIpAddress"}) + ending]["aws:SourceIp"] =
            Some({"203.0.113.0/24", "203.0.113.7", "203.0.113.6/31", "0.0.0.0/0", "10.0.0.0/8"});
        return;
      case 4: condition["Bool" + ending]["aws:SecureTransport"] = One({"true", "false"}); return;
      case 5:
        condition[set + One({"ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike"}) +
                  ending]["aws:PrincipalArn"] =
            Some({"arn:aws:iam::*:user/*", "arn:aws:iam::111122223333:role/reader", "arn:*",
                  "arn:aws:iam::111122223333:user/${aws:username}", "arn:aws:iam::4*:*"});
        return;
      default:
        condition[set +
                  One({"StringEquals", "StringNotEquals", "StringLike", "StringNotLike",
                       "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase"}) +
                  ending][One({"s3:prefix", "S3:Prefix", "aws:TagKeys", "aws:username",
                               "s3:ExistingObjectTag/team", "s3:absent"})] =
            Some({"home/ann/", "home/*", "HOME/ANN/", "home/${aws:username}/", "a", "b", "red",
                  "${aws:username}", "${s3:absent, 'ann'}", "${s3:absent}", ""});
    }
  }

  void DrawPrincipal(slow::Question& question) {
    question.account = kAccounts[Below(2)];
    question.canonical = "c" + question.account;
    const std::string iam = "arn:aws:iam::" + question.account + ":";
    question.arn = iam + "root";
    if (question.type == "root") return;
    question.limited = Chance(97);
    if (question.type == "user") {
      question.arn = iam + "user/ann";
      question.id = Chance(50) ? "AIDAANN" : "";
    } else {
      question.arn = "arn:aws:sts::" + question.account + ":assumed-role/reader/job";
      question.role = iam + "role/reader";
      question.id = "AROAREADER:job";
    }
    if (!question.limited) return;
    for (std::size_t i = Below(3); i > 0; --i) question.identity.push_back(Policy(false));
    if (Chance(25)) question.boundary = Policy(false);
    if (Chance(25)) question.session = Policy(false);
  }

  void DrawContext(slow::Question& question) {
    auto& context = question.context;
    if (Chance(70)) context["s3:prefix"] = {One({"home/ann/", "home/bob/", ""})};
    if (question.type == "user") context["aws:username"] = {"ann"};
    if (Chance(60)) context["s3:max-keys"] = {One({"10", "9.5", "12", "x"})};
    context["aws:currenttime"] = {One({"2026-01-02T03:04:05Z", "2024-02-29T00:00:00Z"})};
    context["aws:epochtime"] = {One({"1767323045", "1900000000"})};
    context["aws:sourceip"] = {One({"203.0.113.7", "10.1.2.3"})};
    context["aws:securetransport"] = {One({"true", "false"})};
    if (question.type != "anonymous")
      context["aws:principalarn"] = {question.role.empty() ? question.arn : question.role};
    if (Chance(60)) {
      context["aws:tagkeys"] = {};
      for (std::size_t i = Below(4); i > 0; --i)
        context["aws:tagkeys"].push_back(One({"a", "b", "red"}));
    }
    if (Chance(50)) context["s3:existingobjecttag/team"] = {One({"red", "blue"})};
  }

  std::mt19937_64 random_;
};

struct Parsed {
  testing::MapContext context;
  PrincipalPolicies policies;
  std::shared_ptr<const Document> bucket;
  Request request;
};

NamedPolicy Name(const Json& policy) { return {"p", testing::Identity(policy.dump())}; }

bool Fast(const slow::Question& question) {
  Parsed parsed;
  for (const auto& [key, values] : question.context) parsed.context.Set(key, values);
  for (const Json& policy : question.identity) parsed.policies.identity.push_back(Name(policy));
  if (!question.boundary.is_null()) parsed.policies.boundary = Name(question.boundary);
  if (!question.session.is_null()) parsed.policies.session = Name(question.session);
  if (!question.bucket_policy.is_null())
    parsed.bucket = testing::Resource(question.bucket_policy.dump());
  Request& request = parsed.request;
  request.principal = {.type = question.type == "anonymous" ? Principal::Type::kAnonymous
                               : question.type == "root"    ? Principal::Type::kRoot
                               : question.type == "user"    ? Principal::Type::kUser
                                                            : Principal::Type::kRoleSession,
                       .account_id = question.account,
                       .canonical_id = question.canonical,
                       .arn = question.arn,
                       .role_arn = question.role,
                       .user_id = question.id,
                       .policies = question.limited ? &parsed.policies : nullptr};
  request.action = question.action;
  request.resource = question.resource;
  request.same_account = question.same_account;
  request.resource_policy = parsed.bucket.get();
  request.resource_policy_allows = question.bucket_policy_may_allow;
  request.acl = question.acl.empty()          ? AclGrant::kNone
                : question.acl == "group"     ? AclGrant::kToGroup
                : question.acl == "initiator" ? AclGrant::kToInitiator
                                              : AclGrant::kToAccount;
  request.root_always = question.root_always;
  request.context = &parsed.context;
  return Evaluate(request).allowed;
}

std::string Text(const slow::Question& question) {
  Json json = {{"type", question.type},
               {"arn", question.arn},
               {"action", question.action},
               {"resource", question.resource},
               {"same", question.same_account},
               {"identity", question.identity},
               {"boundary", question.boundary},
               {"session", question.session},
               {"bucket", question.bucket_policy},
               {"context", question.context},
               {"acl", question.acl},
               {"limited", question.limited}};
  return json.dump();
}

TEST(PolicyModelTest, AgreesWithTheSlowEvaluator) {
  const std::uint64_t requests = FromEnvironment("PENSTOCK_POLICY_MODEL_REQUESTS", 4000);
  const std::uint64_t seed = FromEnvironment("PENSTOCK_SEED", 24);
  Draw draw(seed);
  std::uint64_t allowed = 0;
  for (std::uint64_t i = 0; i < requests; ++i) {
    slow::Question question = draw.Question();
    if (draw.Chance(80)) question.bucket_policy = draw.Policy(true);
    const bool expected = slow::IsAllowed(question);
    allowed += expected ? 1 : 0;
    ASSERT_EQ(Fast(question), expected)
        << "request " << i << " of seed " << seed << ": " << Text(question);
  }
  // Both outcomes are frequent, so that the comparison means something.
  EXPECT_GT(allowed, requests / 10);
  EXPECT_LT(allowed, requests * 9 / 10);
  RecordProperty("allowed", std::to_string(allowed));
}

}  // namespace
}  // namespace penstock::emulator::policy
