// Decides which entries of a multi-object request fail.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_PARTIAL_FAILURE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_PARTIAL_FAILURE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emulator/faults/action.h"
#include "emulator/traffic/draws.h"

namespace penstock::emulator::faults {

struct EntryFacts {
  std::size_t place = 0;  // 0-based position.
  std::string_view key;
  std::uint64_t failed_before = 0;  // Earlier entries of the request that this action failed.
};

// `draw`: the rule's draw for the request. The random decision depends only on it and on the key,
// not on other entries.
bool FailsEntry(const PartialFailureAction& failure, const EntryFacts& entry,
                const traffic::Draw& draw);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_PARTIAL_FAILURE_H_
