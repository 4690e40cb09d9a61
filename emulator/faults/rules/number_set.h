// Sets of numbers in rules: "3", "3-5", ">=2", "2,7,9", "every 5".
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_NUMBER_SET_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_NUMBER_SET_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::faults {

// Thread safety: immutable after parsing.
class NumberSet {
 public:
  // Parses comma-separated items: N, N-M, >=N, <=N, "every N" (N, 2N, 3N, ...). Numbers have at
  // most 18 digits; at most 64 items. Returns kInvalidArgument that names the invalid item and the
  // valid forms.
  static Result<NumberSet> Parse(std::string_view text);
  static NumberSet Of(std::uint64_t number);

  bool Has(std::uint64_t number) const;
  // Whether the set contains no number above 0.
  bool HasZeroAtMost() const;

 private:
  struct Item {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t every = 1;
  };
  static Result<Item> ParseItem(std::string_view text);

  std::vector<Item> items_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_NUMBER_SET_H_
