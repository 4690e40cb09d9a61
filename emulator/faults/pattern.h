// A pattern over names: bucket names, keys, header values.
#ifndef PENSTOCK_EMULATOR_FAULTS_PATTERN_H_
#define PENSTOCK_EMULATOR_FAULTS_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/faults/documents/regex.h"

namespace penstock::emulator::faults {

// '*' stands for any bytes, '?' for one byte, '\' takes the next one literally; everything else for
// itself. The time it takes grows with the product of both lengths at worst.
//
// Thread safety: not changed once made.
class Pattern {
 public:
  explicit Pattern(std::string glob);
  // Names that begin so, taken literally.
  static Pattern Prefix(std::string_view prefix);
  // This name alone, taken literally.
  static Pattern Exactly(std::string_view name);
  // Names in which a regular expression (regex.h) is found. Regex::Compile's errors.
  static Result<Pattern> OfRegex(std::string_view expression);

  bool Matches(std::string_view name) const;
  const std::string& glob() const { return glob_; }
  // What every name that matches begins with.
  const std::string& literal() const { return literal_; }

 private:
  std::string glob_;
  std::string literal_;
  bool only_literal_ = false;  // nothing follows
  bool prefix_ = false;        // one '*' follows, and nothing else
  // shared by copies, as it does not change; null: glob_ it is
  std::shared_ptr<const Regex> regex_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PATTERN_H_
