// JSON of one element of `do`: {"error": {...}, "at": "before_commit"}.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_DOCUMENT_H_

#include <string>
#include <vector>

#include "emulator/faults/rules/rule.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// Returns kInvalidArgument that names the field; the name begins with `place`.
Result<TimedAction> ReadAction(const Json& json, const std::string& place);

// Returns the names of the actions, in the order of the documentation.
std::vector<std::string_view> ActionNames();

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_DOCUMENT_H_
