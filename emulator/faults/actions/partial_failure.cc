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
  // The first number of the draw decided whether the rule applies. The second is unused.
  const traffic::Draws draws(static_cast<std::uint64_t>(draw[1] * 0x1p53));
  return draws.Of(entry.key, 0)[0] < failure.probability;
}

}  // namespace penstock::emulator::faults
