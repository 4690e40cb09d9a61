#include "emulator/faults/actions/partial_failure.h"

#include <algorithm>

namespace penstock::emulator::faults {

bool FailsEntry(const PartialFailureAction& failure, const EntryFacts& entry,
                const traffic::Draw& draw) {
  if (failure.most && entry.failed_before >= *failure.most) return false;
  if (failure.entries && !failure.entries->Has(entry.place + 1)) return false;
  const auto matches = [&](const Pattern& pattern) { return pattern.Matches(entry.key); };
  if (!failure.keys.empty() && std::none_of(failure.keys.begin(), failure.keys.end(), matches))
    return false;
  if (failure.probability >= 1) return true;
  // The draw's first number has decided whether the rule is met: its second one is still free.
  const traffic::Draws draws(static_cast<std::uint64_t>(draw[1] * 0x1p53));
  return draws.Of(entry.key, 0)[0] < failure.probability;
}

}  // namespace penstock::emulator::faults
