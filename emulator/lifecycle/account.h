// The results of lifecycle runs and previews.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_ACCOUNT_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_ACCOUNT_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/lifecycle/action.h"
#include "emulator/lifecycle/apply.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::lifecycle {

using ActionCounts = std::array<std::uint64_t, kActionKinds>;

struct BucketAccount {
  // Versions and delete markers that were examined. Of several runs: the most that one examined,
  // because a run that follows a background run does not find what that one removed.
  std::uint64_t versions = 0;
  std::uint64_t uploads = 0;
  std::map<std::string, ActionCounts, std::less<>> rules;  // By id. Empty id: restores.
  std::uint64_t locked = 0;                                // Removals refused by Object Lock.
  std::uint64_t changed = 0;  // Versions that a request changed before the action.
  std::uint64_t failed = 0;
  std::string error;  // The first failure.
};

// Its size is bounded by the configurations of the buckets and kMaxLogged.
class Account {
 public:
  static constexpr std::size_t kMaxLogged = 1000;

  struct Entry {
    std::string bucket;
    Action action;
  };

  BucketAccount& Bucket(const std::string& name) { return buckets_[name]; }
  // Counts an outcome.
  void Add(const std::string& bucket, const Action& action, const Outcome& outcome);
  // Adds the actions of a later run.
  void Merge(Account later);

  std::uint64_t actions() const { return actions_; }
  const std::map<std::string, BucketAccount>& buckets() const { return buckets_; }
  const std::vector<Entry>& entries() const { return entries_; }

  std::optional<WallTime> time;  // Of the latest run.
  std::optional<WallTime> next;  // The next date at which an action may be due, as of that run.

 private:
  std::map<std::string, BucketAccount> buckets_;
  std::vector<Entry> entries_;  // The first kMaxLogged actions.
  std::uint64_t actions_ = 0;
};

// Returns one line of JSON (docs/reference/admin-api.md).
std::string AccountJson(std::string_view name_space, const Account& account);

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_ACCOUNT_H_
