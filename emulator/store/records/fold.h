// Prefix, delimiter and resume point of a listing, as pure string logic. No I/O; independent of the
// tables.
#ifndef PENSTOCK_EMULATOR_STORE_RECORDS_FOLD_H_
#define PENSTOCK_EMULATOR_STORE_RECORDS_FOLD_H_

#include <optional>
#include <string>
#include <string_view>

namespace penstock::emulator::store {

// The smallest string greater than every string that begins with `prefix`, in unsigned byte order.
// nullopt: there is none, because `prefix` is empty or consists of 0xFF bytes.
std::optional<std::string> Successor(std::string_view prefix);

// Selects keys and groups them into common prefixes (Amazon S3 API Reference, "ListObjectsV2"). The
// caller must keep prefix and delimiter alive.
class KeyFold {
 public:
  KeyFold(std::string_view prefix, std::string_view delimiter)
      : prefix_(prefix), delimiter_(delimiter) {}

  bool Matches(std::string_view key) const { return key.starts_with(prefix_); }
  // The common prefix that contains `key`, as a view of `key`; empty if the key is listed itself.
  // `key` must match.
  std::string_view GroupOf(std::string_view key) const;
  // The smallest key, inclusive, of a page that resumes after `after`. If `after` is a group or
  // inside one, the whole group is skipped. nullopt: nothing can follow. An empty `after` starts at
  // the first key.
  std::optional<std::string> LowerBound(std::string_view after) const;

 private:
  std::string_view prefix_;
  std::string_view delimiter_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_RECORDS_FOLD_H_
