// JSON of `partial_failure`.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_PARTIAL_FAILURE_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_PARTIAL_FAILURE_DOCUMENT_H_

#include <string>

#include "emulator/faults/action.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// Reads the members of the action. Returns kInvalidArgument that names the field.
Result<Action> ReadPartialFailure(const Json& json, const std::string& place);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_PARTIAL_FAILURE_DOCUMENT_H_
