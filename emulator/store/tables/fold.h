// Prefix, delimiter and resume point of a listing, as pure string logic. No I/O and no knowledge of
// tables.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_FOLD_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_FOLD_H_

#include <optional>
#include <string>
#include <string_view>

namespace penstock::emulator::store {

// The smallest string greater than every string that begins with `prefix`, in unsigned byte order.
// nullopt when there is none (`prefix` is empty or all 0xFF).
std::optional<std::string> Successor(std::string_view prefix);

// How keys are selected and folded (spec/protocol.md §2.4). Views: the caller keeps prefix and
// delimiter alive.
class KeyFold {
 public:
  KeyFold(std::string_view prefix, std::string_view delimiter)
      : prefix_(prefix), delimiter_(delimiter) {}

  bool Matches(std::string_view key) const { return key.starts_with(prefix_); }
  // The common prefix that `key` folds into, as a view of `key`; empty when it is listed by itself.
  // `key` must match.
  std::string_view GroupOf(std::string_view key) const;
  // The smallest key a page that resumes after `after` may show (inclusive). A whole group is
  // skipped when `after` lies inside it or is it. nullopt: nothing can follow. An empty `after`
  // starts at the beginning.
  std::optional<std::string> LowerBound(std::string_view after) const;

 private:
  std::string_view prefix_;
  std::string_view delimiter_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_FOLD_H_
