// Regular expressions for keys and header values with bounded matching time, so that a rule cannot
// block a serving thread.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_REGEX_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_REGEX_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::faults {

// Supports bytes, '.', [a-z], [^a-z], \d \w \s and \D \W \S, \t \n \r, ( ), (?: ), |, *, +, ?, {m},
// {m,}, {m,n}, and ^ and $ for the ends of the text. '\' escapes other punctuation. There are no
// back references, lookaheads or case folding. Matching time is proportional to the product of both
// lengths.
//
// Thread safety: immutable after construction.
class Regex {
 public:
  // Returns kInvalidArgument that names the expression, the position and the problem.
  static Result<Regex> Compile(std::string_view expression);

  // Whether the expression matches anywhere in `text`.
  bool Found(std::string_view text) const;
  // Returns the literal prefix of every matching text.
  std::string Literal() const;

 private:
  friend class RegexParser;
  enum class Kind : std::uint8_t { kByte, kSplit, kBegin, kEnd, kMatch };
  // A step of the NFA. `next` and `other` are relative to its index.
  struct Step {
    Kind kind = Kind::kMatch;
    std::bitset<256> bytes;  // For kByte: the accepted bytes.
    std::int32_t next = 1;
    std::int32_t other = 1;  // For kSplit.
  };
  using Steps = std::vector<Step>;
  // The set of steps that are active at one position of the text.
  class StepSet;

  void Follow(StepSet& active, std::size_t begin, bool at_begin, bool at_end) const;

  Steps steps_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_REGEX_H_
