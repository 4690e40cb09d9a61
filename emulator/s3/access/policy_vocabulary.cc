#include "emulator/s3/access/policy_vocabulary.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "emulator/s3/access/policy_vocabulary_table.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

static_assert(std::size(policy_vocabulary::kActions) <= PolicyActionSet().size());

// Longer than every action's name.
constexpr std::size_t kMaxActionBytes = 80;

// True if the words in `list` include `word`.
bool Includes(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find(' '));
    if (first == word) return true;
    list.remove_prefix(std::min(list.size(), first.size() + 1));
  }
  return false;
}

bool HasKey(const PolicyAction& action, const PolicyKey& key) {
  const std::size_t prefix = key.name.find(':') + 1;
  return key.every_action || (action.name.substr(0, prefix) == key.name.substr(0, prefix) &&
                              Includes(action.keys, key.name.substr(prefix)));
}

template <typename Equal>
bool Matches(std::string_view pattern, std::string_view text, Equal equal) {
  std::size_t p = 0;
  std::size_t t = 0;
  // After a mismatch, the last '*' matches one byte more. Earlier ones need not change.
  std::size_t after_star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || equal(pattern[p], text[t]))) {
      ++p;
      ++t;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      t = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

std::span<const PolicyAction> PolicyActions() { return policy_vocabulary::kActions; }

std::span<const PolicyKey> PolicyKeys() { return policy_vocabulary::kKeys; }

const PolicyKey* FindPolicyKey(std::string_view name) {
  const auto keys = PolicyKeys();
  const auto found = std::find_if(keys.begin(), keys.end(), [name](const PolicyKey& key) {
    if (!key.name.ends_with('/')) return EqualsIgnoreCase(key.name, name);
    return name.size() > key.name.size() && StartsWithIgnoreCase(name, key.name);
  });
  return found == keys.end() ? nullptr : &*found;
}

PolicyActionSet MatchPolicyActions(std::string_view pattern) {
  PolicyActionSet set;
  if (pattern != "*" && pattern.find(':') == std::string_view::npos) return set;
  const auto stars = std::count(pattern.begin(), pattern.end(), '*');
  if (pattern.size() - static_cast<std::size_t>(stars) > kMaxActionBytes) return set;
  const auto equal = [](char a, char b) { return AsciiLower(a) == AsciiLower(b); };
  const auto actions = PolicyActions();
  for (std::size_t i = 0; i < actions.size(); ++i)
    set[i] = Matches(pattern, actions[i].name, equal);
  return set;
}

PolicyActionSet PolicyActionsWithKey(const PolicyKey& key) {
  PolicyActionSet set;
  const auto actions = PolicyActions();
  for (std::size_t i = 0; i < actions.size(); ++i) set[i] = HasKey(actions[i], key);
  return set;
}

bool MatchesPolicyPattern(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, std::equal_to<>());
}

}  // namespace penstock::emulator::s3
