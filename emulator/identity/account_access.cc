#include "emulator/identity/account_access.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "penstock/base/error.h"

namespace penstock::emulator::identity {
namespace {

struct AwsPolicy {
  std::string_view arn;
  const char* document;
};

// The statements about S3 of AWS's managed policies (AWS Managed Policy Reference).
constexpr AwsPolicy kAwsPolicies[] = {
    {"arn:aws:iam::aws:policy/AmazonS3FullAccess",
     R"({"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
         "Action": ["s3:*", "s3-object-lambda:*"], "Resource": "*"}]})"},
    {"arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
     R"({"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
         "Action": ["s3:Get*", "s3:List*", "s3:Describe*", "s3-object-lambda:Get*",
                    "s3-object-lambda:List*"], "Resource": "*"}]})"},
    {"arn:aws:iam::aws:policy/AdministratorAccess",
     R"({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*",
         "Resource": "*"}]})"},
    {"arn:aws:iam::aws:policy/ReadOnlyAccess",
     R"({"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
         "Action": ["s3:DescribeJob", "s3:Get*", "s3:List*", "s3-object-lambda:Get*",
                    "s3-object-lambda:List*", "sts:GetAccessKeyInfo", "sts:GetCallerIdentity",
                    "sts:GetSessionToken"], "Resource": "*"}]})"},
};

std::string PolicyArn(std::string_view account_id, const std::string& name,
                      const ManagedPolicy& policy) {
  return "arn:aws:iam::" + std::string(account_id) + ":policy" + policy.path + name;
}

const ManagedPolicy* FindOwn(const AccountAccess& access, std::string_view arn) {
  const std::size_t slash = arn.rfind('/');
  if (slash == std::string_view::npos) return nullptr;
  const auto found = access.managed_policies.find(arn.substr(slash + 1));
  if (found == access.managed_policies.end() ||
      PolicyArn(access.account_id, found->first, found->second) != arn)
    return nullptr;
  return &found->second;
}

template <class Entity>
void MergeInto(ByName<Entity>& entities, ByName<Entity> newer) {
  for (auto& [name, entity] : newer) entities.insert_or_assign(name, std::move(entity));
}

Error Unknown(const AccountAccess& access, const std::string& holder, const std::string& what,
              const std::string& fix) {
  return Error::Make(ErrorKind::kInvalidArgument, "account '" + access.account_id + "': " + holder +
                                                      " names " + what + "; " + fix);
}

Result<void> CheckAttachments(const AccountAccess& access, const std::string& holder,
                              const Attachments& attachments) {
  std::vector<std::string> arns = attachments.attached_policies;
  if (!attachments.permissions_boundary.empty()) arns.push_back(attachments.permissions_boundary);
  for (const std::string& arn : arns) {
    if (FindManagedPolicy(access, arn)) continue;
    return Unknown(access, holder, "the unknown policy '" + arn + "'",
                   "list it in managed_policies of the account, or use AmazonS3FullAccess, "
                   "AmazonS3ReadOnlyAccess, AdministratorAccess or ReadOnlyAccess of AWS");
  }
  return Ok();
}

void AddPolicies(const AccountAccess& access, const std::string& holder,
                 const Attachments& attachments, policy::PrincipalPolicies& policies) {
  for (const auto& [name, document] : attachments.inline_policies)
    policies.identity.push_back({holder + "/" + name, document});
  for (const std::string& arn : attachments.attached_policies) {
    if (DocumentPtr document = FindManagedPolicy(access, arn))
      policies.identity.push_back({arn, std::move(document)});
  }
}

void SetBoundary(const AccountAccess& access, const Attachments& attachments,
                 policy::PrincipalPolicies& policies) {
  const std::string& arn = attachments.permissions_boundary;
  if (arn.empty()) return;
  DocumentPtr document = FindManagedPolicy(access, arn);
  // CheckReferences prevents this: a boundary without statements allows nothing.
  if (!document) document = std::make_shared<const policy::Document>();
  policies.boundary = policy::NamedPolicy{arn, std::move(document)};
}

}  // namespace

bool AccountAccess::empty() const {
  return managed_policies.empty() && groups.empty() && users.empty() && roles.empty() &&
         token_providers.empty();
}

void AccountAccess::Merge(AccountAccess newer) {
  MergeInto(managed_policies, std::move(newer.managed_policies));
  MergeInto(groups, std::move(newer.groups));
  MergeInto(users, std::move(newer.users));
  MergeInto(roles, std::move(newer.roles));
  MergeInto(token_providers, std::move(newer.token_providers));
}

std::string RoleArn(std::string_view account_id, const Role& role) {
  return "arn:aws:iam::" + std::string(account_id) + ":role" + role.path + role.name;
}

std::string UserArn(std::string_view account_id, std::string_view path, std::string_view name) {
  return "arn:aws:iam::" + std::string(account_id) + ":user" + std::string(path) +
         std::string(name);
}

std::string UniqueId(std::string_view prefix, std::string_view arn) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  constexpr std::size_t kCharacters = 17;
  const Sha256Digest digest = Sha256(AsBytes("penstock id of " + std::string(arn)));
  std::string id(prefix);
  for (std::size_t i = 0; i < kCharacters; ++i)
    id += kAlphabet[std::to_integer<std::size_t>(digest[i]) % kAlphabet.size()];
  return id;
}

std::string RoleId(std::string_view account_id, std::string_view role) {
  return UniqueId("AROA", "arn:aws:iam::" + std::string(account_id) + ":role/" + std::string(role));
}

DocumentPtr FindManagedPolicy(const AccountAccess& access, std::string_view arn) {
  static const auto of_aws = [] {
    std::map<std::string_view, DocumentPtr> documents;
    for (const AwsPolicy& row : kAwsPolicies) {
      if (auto parsed = policy::ParseIdentityPolicy(row.document); parsed.ok())
        documents.emplace(row.arn, std::move(parsed).value());
    }
    return documents;
  }();
  if (const auto found = of_aws.find(arn); found != of_aws.end()) return found->second;
  const ManagedPolicy* const own = FindOwn(access, arn);
  return own != nullptr ? own->document : nullptr;
}

std::string ManagedPolicyJson(const AccountAccess& access, std::string_view arn) {
  for (const AwsPolicy& row : kAwsPolicies) {
    if (row.arn == arn) return row.document;
  }
  const ManagedPolicy* const own = FindOwn(access, arn);
  return own != nullptr ? own->document_json : std::string();
}

Result<void> CheckReferences(const AccountAccess& access) {
  for (const auto& [name, group] : access.groups)
    PENSTOCK_TRY(CheckAttachments(access, "group '" + name + "'", group.policies));
  for (const auto& [name, role] : access.roles)
    PENSTOCK_TRY(CheckAttachments(access, "role '" + name + "'", role.policies));
  for (const auto& [name, user] : access.users) {
    const std::string holder = "user '" + name + "'";
    PENSTOCK_TRY(CheckAttachments(access, holder, user.policies));
    for (const std::string& group : user.groups) {
      if (!access.groups.contains(group))
        return Unknown(access, holder, "the unknown group '" + group + "'",
                       "list it in groups of the account");
    }
  }
  return Ok();
}

std::shared_ptr<const policy::PrincipalPolicies> PoliciesOfUser(const AccountAccess* access,
                                                                std::string_view user) {
  auto policies = std::make_shared<policy::PrincipalPolicies>();
  if (access == nullptr) return policies;
  const auto found = access->users.find(user);
  if (found == access->users.end()) return policies;
  AddPolicies(*access, "user/" + found->first, found->second.policies, *policies);
  for (const std::string& name : found->second.groups) {
    if (const auto group = access->groups.find(name); group != access->groups.end())
      AddPolicies(*access, "group/" + name, group->second.policies, *policies);
  }
  SetBoundary(*access, found->second.policies, *policies);
  policies->tags = found->second.tags;
  return policies;
}

std::shared_ptr<const policy::PrincipalPolicies> PoliciesOfRole(
    const AccountAccess& access, const Role& role, const std::vector<DocumentPtr>& session) {
  auto policies = std::make_shared<policy::PrincipalPolicies>();
  AddPolicies(access, "role/" + role.name, role.policies, *policies);
  SetBoundary(access, role.policies, *policies);
  policies->tags = role.tags;
  if (session.empty()) return policies;
  // AWS treats the session policies of a request as one.
  auto joined = std::make_shared<policy::Document>();
  for (const DocumentPtr& document : session) {
    joined->statements.insert(joined->statements.end(), document->statements.begin(),
                              document->statements.end());
  }
  policies->session = policy::NamedPolicy{"session", std::move(joined)};
  return policies;
}

}  // namespace penstock::emulator::identity
