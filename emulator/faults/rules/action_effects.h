// What follows from the actions of a rule alone: which of them cannot happen together or at all,
// which make a client retry, and which entries of a multi-object request fail.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_ACTION_EFFECTS_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_ACTION_EFFECTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/faults/rules/rule.h"
#include "emulator/traffic/draws.h"

namespace penstock::emulator::faults {

// Describes the first pair of conflicting actions: the earlier one prevents the later one from
// happening, so the rule would never fire and its `times` would never be reached. Returns an empty
// string if there is none.
std::string ConflictingActions(const Rule& rule);

// Describes the first action that none of the rule's operations can meet. Empty: none.
std::string ActionWithoutOperation(const Rule& rule);

// Whether `action` ends the attempt without a usable response, in a way that clients retry: a lost
// connection, a cut or corrupted body, or a transient error. Returns false for actions that delay
// or misreport a response that arrives, and for permanent errors such as 403 and 404.
bool FailsAttempt(const Action& action);

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

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_ACTION_EFFECTS_H_
