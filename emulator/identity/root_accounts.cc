#include "emulator/identity/root_accounts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace penstock::emulator::identity {
namespace {

bool Holds(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string NameOf(const RootAccount& root) {
  const std::string ids =
      "account id " + root.account.account_id + ", canonical id " + root.account.id;
  return root.access_key_id.empty()
             ? "an account whose key is not known (" + ids + ")"
             : "the account of access key '" + root.access_key_id + "' (" + ids + ")";
}

s3::Identity RootOf(const std::string& access_key_id, const s3::Owner& account) {
  s3::Identity identity = MakeIdentity(access_key_id);
  identity.owner_id = account.id;
  if (!account.display_name.empty()) identity.display_name = account.display_name;
  identity.account_id = account.account_id;
  identity.arn = "arn:aws:iam::" + identity.account_id + ":root";
  return identity;
}

// Returns the stored roots and those that are known only from their buckets.
std::vector<RootAccount> Candidates(const PreviousRoots& previous) {
  std::vector<RootAccount> found = previous.roots;
  for (const std::string& owner : previous.bucket_owners) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const RootAccount& root) {
      return root.account.id == owner;
    });
    if (previous.owners_may_be_roots && !known && !previous.documented_accounts.contains(owner))
      found.push_back({{}, {owner, {}, AccountIdOfCanonical(owner)}});
  }
  return found;
}

}  // namespace

RootPlan AssignRootAccounts(const std::vector<AccessKey>& keys, const PreviousRoots& previous) {
  const std::vector<RootAccount> candidates = Candidates(previous);
  std::vector<std::optional<s3::Identity>> assigned(keys.size());
  std::vector<std::string> reached;  // canonical ids
  const auto assign = [&](std::size_t key, const s3::Owner& account) {
    assigned[key] = RootOf(keys[key].id, account);
    reached.push_back(account.id);
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (const RootAccount& root : candidates) {
      if (root.access_key_id == keys[i].id) assign(i, root.account);
    }
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string own = MakeIdentity(keys[i].id).owner_id;
    for (const RootAccount& root : candidates) {
      if (!assigned[i] && root.account.id == own) assign(i, root.account);
    }
  }
  RootPlan plan;
  for (const RootAccount& root : candidates) {
    if (Holds(reached, root.account.id) || previous.documented_accounts.contains(root.account.id))
      continue;
    if (!Holds(previous.bucket_owners, root.account.id)) continue;
    const auto free = std::find(assigned.begin(), assigned.end(), std::nullopt);
    if (free != assigned.end()) {
      const auto key = static_cast<std::size_t>(free - assigned.begin());
      assign(key, root.account);
      plan.notices.push_back("access key '" + keys[key].id + "' takes over " + NameOf(root) +
                             ", which owns buckets here and has no key any more");
    } else {
      plan.roots.push_back(root);
      plan.notices.push_back(
          "there is no access key for " + NameOf(root) +
          ", which owns buckets here; give it a key with --access-key or in the users file");
    }
  }
  std::vector<RootAccount> of_keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!assigned[i]) assigned[i] = MakeIdentity(keys[i].id);
    plan.identities.push_back(*assigned[i]);
    of_keys.push_back(
        {keys[i].id, {assigned[i]->owner_id, assigned[i]->display_name, assigned[i]->account_id}});
  }
  plan.roots.insert(plan.roots.begin(), of_keys.begin(), of_keys.end());
  return plan;
}

}  // namespace penstock::emulator::identity
