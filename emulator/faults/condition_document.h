// `when` and `limit` as JSON.
#ifndef PENSTOCK_EMULATOR_FAULTS_CONDITION_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_CONDITION_DOCUMENT_H_

#include <string>

#include "emulator/faults/rule.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// kInvalidArgument names the place, which begins with `place`.
Result<Condition> ReadCondition(const Json& json, std::string place);
Result<Limit> ReadLimit(const Json& json, std::string place);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_CONDITION_DOCUMENT_H_
