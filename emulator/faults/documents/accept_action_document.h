// JSON of connection actions, which are only allowed at `accept`.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACCEPT_ACTION_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACCEPT_ACTION_DOCUMENT_H_

#include <string>

#include "emulator/faults/action.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// Each function reads the members of one action. Returns kInvalidArgument that names the field.
Result<Action> ReadTlsAbort(const Json& json, const std::string& place);
Result<Action> ReadTlsCertificate(const Json& json, const std::string& place);
Result<Action> ReadGoAway(const Json& json, const std::string& place);
Result<Action> ReadConnectionLimit(const Json& json, const std::string& place);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACCEPT_ACTION_DOCUMENT_H_
