// Regular expressions over keys and header values, in linear time: a rule must not hold a serving
// thread, whatever it is asked.
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

// Bytes, '.', [a-z], [^a-z], \d \w \s and \D \W \S, \t \n \r, ( ), (?: ), |, *, +, ?, {m}, {m,},
// {m,n}, ^ and $ (of the whole text). Other signs behind a '\' stand for themselves. There are no
// back references, no looking ahead and no case folding. The time it takes grows with the product
// of both lengths.
//
// Thread safety: not changed once made.
class Regex {
 public:
  // kInvalidArgument names the expression, the place and what is wrong.
  static Result<Regex> Compile(std::string_view expression);

  // Whether it matches anywhere in `text`.
  bool Found(std::string_view text) const;
  // What every text begins with in which it is found.
  std::string Literal() const;

 private:
  friend class RegexParser;
  enum class Kind : std::uint8_t { kByte, kSplit, kBegin, kEnd, kMatch };
  // A step of the machine; places are relative to its own.
  struct Step {
    Kind kind = Kind::kMatch;
    std::bitset<256> bytes;  // kByte: one of them
    std::int32_t next = 1;
    std::int32_t other = 1;  // kSplit
  };
  using Steps = std::vector<Step>;
  // The places that a run has reached; each once.
  class Places;

  void Follow(Places& places, std::size_t begin, bool at_begin, bool at_end) const;

  Steps steps_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_REGEX_H_
