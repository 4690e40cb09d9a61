// JSON of durations: whole milliseconds, up to one hour.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_MILLISECONDS_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_MILLISECONDS_DOCUMENT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

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

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_MILLISECONDS_DOCUMENT_H_
