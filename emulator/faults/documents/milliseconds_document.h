// Times of a document: whole milliseconds, up to an hour.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_MILLISECONDS_DOCUMENT_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_MILLISECONDS_DOCUMENT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::faults {

inline constexpr std::uint64_t kLongestMs = 3'600'000;  // an hour

// `into` stays where the member is not there. kInvalidArgument names the place.
inline Result<void> ReadMs(const JsonFields& fields, std::string_view name,
                           std::chrono::milliseconds& into) {
  PENSTOCK_ASSIGN(const std::optional<double> number, fields.Number(name));
  if (number && *number > static_cast<double>(kLongestMs))
    return fields.OutOfRange(name, "at most 3600000 milliseconds, an hour");
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> ms, fields.Whole(name));
  if (ms) into = std::chrono::milliseconds(*ms);
  return Ok();
}

// The member must be there.
inline Result<void> NeedMs(const JsonFields& fields, std::string_view name,
                           std::chrono::milliseconds& into) {
  if (!fields.Has(name))
    return FieldError(fields.Place(name), "is missing: how many milliseconds?");
  return ReadMs(fields, name, into);
}

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_MILLISECONDS_DOCUMENT_H_
