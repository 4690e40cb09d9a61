// A pattern for bucket names, keys and header values.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_PATTERN_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/result.h"

namespace re2 {
class RE2;
}

namespace penstock::emulator::faults {

// In a glob, '*' matches any bytes, '?' matches one byte, and '\' escapes the next byte. Matching
// takes one step for each byte of the name and each 64 bytes of the glob.
//
// Thread safety: immutable after construction.
class Pattern {
 public:
  // The most memory of a regular expression, while it matches.
  static constexpr std::uint64_t kMaxRegexBytes = 260 << 10;

  // As long as a key.
  static constexpr std::size_t kLongestGlob = 1'024;

  // At most kLongestGlob bytes may be between two stars. OfGlob checks it.
  explicit Pattern(std::string glob);
  // kInvalidArgument for a longer one.
  static Result<Pattern> OfGlob(std::string glob);
  // Matches names that start with `prefix`, taken literally.
  static Pattern Prefix(std::string_view prefix);
  // Matches only `name`, taken literally.
  static Pattern Exactly(std::string_view name);
  // Matches names that contain a match of a regular expression of RE2: matching takes linear time
  // and at most 256 KiB. Returns kInvalidArgument that names the expression and the problem.
  static Result<Pattern> OfRegex(std::string_view expression);

  bool Matches(std::string_view name) const;
  const std::string& glob() const { return glob_; }
  // A literal prefix of every matching name; empty for a regular expression.
  const std::string& literal() const { return literal_; }

 private:
  std::string glob_;
  std::string literal_;
  bool only_literal_ = false;  // The literal prefix is the whole pattern.
  bool prefix_ = false;        // The pattern is the literal prefix and one '*'.
  // Shared by copies, because it is immutable. Null: glob_ applies.
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_PATTERN_H_
