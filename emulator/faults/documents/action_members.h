// JSON of actions on connections, of actions that change how an operation is executed, and of
// latency.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_MEMBERS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_MEMBERS_H_

#include <string>

#include "emulator/faults/rules/action.h"
#include "emulator/json/json_fields.h"
#include "penstock/base/result.h"

namespace penstock::emulator::faults {

// Each function reads the members of one action. Returns kInvalidArgument that names the field; its
// name begins with `place`.
Result<Action> ReadTlsAbort(const Json& json, const std::string& place);
Result<Action> ReadTlsCertificate(const Json& json, const std::string& place);
Result<Action> ReadGoAway(const Json& json, const std::string& place);
Result<Action> ReadConnectionLimit(const Json& json, const std::string& place);

Result<Action> ReadPartialFailure(const Json& json, const std::string& place);
Result<Action> ReadDuplicate(const Json& json, const std::string& place);
// These two require {"unlike_s3": true}, because S3 does not do this.
Result<Action> ReadCommitPartial(const Json& json, const std::string& place);
Result<Action> ReadDelayVisibility(const Json& json, const std::string& place);

Result<Action> ReadLatency(const Json& json, const std::string& place);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_MEMBERS_H_
