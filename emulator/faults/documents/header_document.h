// Headers of answers as JSON.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_DOCUMENT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// What may stand in a header's value.
bool IsHeaderText(std::string_view text);

// {"name": "value"}; `into` stays where the member is not there. kInvalidArgument names place and
// header.
Result<void> ReadHeaders(const JsonFields& fields, std::string_view name,
                         std::vector<std::pair<std::string, std::string>>& into);
// ["name"]; the same.
Result<void> ReadHeaderNames(const JsonFields& fields, std::string_view name,
                             std::vector<std::string>& into);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_DOCUMENT_H_
