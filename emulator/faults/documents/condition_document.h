// `when` and `limit` as JSON.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_CONDITION_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_CONDITION_DOCUMENT_H_

#include <string>

#include "emulator/faults/rule.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// kInvalidArgument names the place, which begins with `place`.
Result<Condition> ReadCondition(const Json& json, std::string place);
Result<Limit> ReadLimit(const Json& json, std::string place);

// "glob", or {"prefix": ...}, {"exactly": ...}, {"glob": ...}.
Result<Pattern> ReadPattern(const Json& json, const std::string& place);
// Of what is counted from 1 on; `into` stays where the member is not there.
Result<void> ReadCounts(const JsonFields& fields, std::string_view name,
                        std::optional<NumberSet>& into);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_CONDITION_DOCUMENT_H_
