// JSON of `when` and `limit`.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_CONDITION_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_CONDITION_DOCUMENT_H_

#include <string>

#include "emulator/faults/rules/rule.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// Returns kInvalidArgument that names the field; the name begins with `place`.
Result<Condition> ReadCondition(const Json& json, std::string place);
Result<Limit> ReadLimit(const Json& json, std::string place);

// Reads "glob", or {"prefix": ...}, {"exactly": ...}, {"glob": ...} or {"regex": ...}.
Result<Pattern> ReadPattern(const Json& json, const std::string& place);
// Reads a set of 1-based numbers. `into` is unchanged if the member is absent.
Result<void> ReadCounts(const JsonFields& fields, std::string_view name,
                        std::optional<NumberSet>& into);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_CONDITION_DOCUMENT_H_
