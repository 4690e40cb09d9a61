// JSON of response headers.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_DOCUMENT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// Whether `text` is allowed in a header value: no line breaks and no NUL.
bool IsHeaderText(std::string_view text);

// Reads {"name": "value"}. `into` is unchanged if the member is absent. Returns kInvalidArgument
// that names the field and the header.
Result<void> ReadHeaders(const JsonFields& fields, std::string_view name,
                         std::vector<std::pair<std::string, std::string>>& into);
// Reads ["name"], with the same rules.
Result<void> ReadHeaderNames(const JsonFields& fields, std::string_view name,
                             std::vector<std::string>& into);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_DOCUMENT_H_
