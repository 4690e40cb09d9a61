// JSON members with a fixed set of values.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_KIND_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_KIND_DOCUMENT_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// `into` is unchanged if the member is absent. Returns kInvalidArgument that names the field and
// the values.
template <class Kind, std::size_t kCount>
Result<void> ReadKind(const JsonFields& fields, std::string_view name,
                      const std::array<std::pair<std::string_view, Kind>, kCount>& kinds,
                      Kind& into) {
  PENSTOCK_ASSIGN(const std::optional<std::string> text, fields.Text(name));
  if (!text) return Ok();
  std::string known;
  for (const auto& [word, kind] : kinds) {
    if (word == *text) {
      into = kind;
      return Ok();
    }
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  return FieldError(fields.Place(name), "must be one of " + known + ", not '" + *text + "'");
}

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_KIND_DOCUMENT_H_
