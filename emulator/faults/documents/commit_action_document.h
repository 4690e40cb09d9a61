// JSON of actions that change how an operation is executed.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_COMMIT_ACTION_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_COMMIT_ACTION_DOCUMENT_H_

#include <string>

#include "emulator/faults/action.h"
#include "emulator/json/json_fields.h"
#include "penstock/base/result.h"

namespace penstock::emulator::faults {

// Returns kInvalidArgument that names the field under `place`.
Result<Action> ReadDuplicate(const Json& json, const std::string& place);
// These two require {"unlike_s3": true}, because S3 does not do this.
Result<Action> ReadCommitPartial(const Json& json, const std::string& place);
Result<Action> ReadDelayVisibility(const Json& json, const std::string& place);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_COMMIT_ACTION_DOCUMENT_H_
