// Which entries of a request about many objects fail.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_PARTIAL_FAILURE_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_PARTIAL_FAILURE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emulator/faults/action.h"
#include "emulator/traffic/draws.h"

namespace penstock::emulator::faults {

struct EntryFacts {
  std::size_t place = 0;  // from 0 on
  std::string_view key;
  std::uint64_t failed_before = 0;  // entries of the same request, by the same action
};

// `draw` is the rule's for the request: with it and the key alone chance decides, whatever other
// entries there are.
bool FailsEntry(const PartialFailureAction& failure, const EntryFacts& entry,
                const traffic::Draw& draw);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_PARTIAL_FAILURE_H_
