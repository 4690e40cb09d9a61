// Members that several actions have in JSON: kinds, times and response headers.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_FIELDS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_FIELDS_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

// Whether `text` is allowed in a header value: no line breaks and no NUL.
bool IsHeaderText(std::string_view text);

// Reads a text for error documents. `into` is unchanged if the member is absent. Returns
// kInvalidArgument that names the field and the first character that XML 1.0 does not allow.
Result<void> ReadXmlText(const JsonFields& fields, std::string_view name, std::string& into);

// Reads {"name": "value"}. `into` is unchanged if the member is absent. Returns kInvalidArgument
// that names the field and the header.
Result<void> ReadHeaders(const JsonFields& fields, std::string_view name,
                         std::vector<std::pair<std::string, std::string>>& into);
// Reads ["name"], with the same rules.
Result<void> ReadHeaderNames(const JsonFields& fields, std::string_view name,
                             std::vector<std::string>& into);

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

inline constexpr std::uint64_t kLongestMs = 3'600'000;  // One hour.

// `into` is unchanged if the member is absent. Returns kInvalidArgument that names the field.
inline Result<void> ReadMs(const JsonFields& fields, std::string_view name,
                           std::chrono::milliseconds& into) {
  PENSTOCK_ASSIGN(const std::optional<double> number, fields.Number(name));
  if (number && *number > static_cast<double>(kLongestMs))
    return fields.OutOfRange(name, "at most 3600000 milliseconds, an hour");
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> ms, fields.Whole(name));
  if (ms) into = std::chrono::milliseconds(*ms);
  return Ok();
}

// The same, but the member is required.
inline Result<void> NeedMs(const JsonFields& fields, std::string_view name,
                           std::chrono::milliseconds& into) {
  if (!fields.Has(name))
    return FieldError(fields.Place(name), "is missing: set the time in milliseconds");
  return ReadMs(fields, name, into);
}

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_ACTION_FIELDS_H_
