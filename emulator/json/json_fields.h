// Reading JSON objects strictly: every field known, of the right type, and named when it is not.
#ifndef PENSTOCK_EMULATOR_JSON_JSON_FIELDS_H_
#define PENSTOCK_EMULATOR_JSON_JSON_FIELDS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator {

using Json = nlohmann::ordered_json;

// Limits of ParseJson. The time it takes is linear in the text; the member limit also bounds
// lookups in a Json object, which are linear in its members.
inline constexpr std::size_t kMostJsonDepth = 64;
inline constexpr std::size_t kMostJsonMembers = 256;  // of one object
inline constexpr std::size_t kMostJsonValues = 1'000'000;

// kInvalidArgument names the byte where the text stops being JSON, the member that an object has
// twice, or the limit that is exceeded, with its place. The message never quotes the text: it may
// hold secrets.
Result<Json> ParseJson(std::string_view text);

// "PLACE: PROBLEM", or the problem alone at the top. kInvalidArgument unless said otherwise.
Error FieldError(std::string_view place, std::string problem);
Error FieldError(ErrorKind kind, std::string_view place, std::string problem);

// One object. `place` is its path from the top ("accounts[0]"), empty at the top itself.
class JsonFields {
 public:
  // Refuses what is no object, and fields that are not among `known`.
  static Result<JsonFields> Read(const Json& json, std::string place,
                                 std::initializer_list<std::string_view> known);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const Json* Find(std::string_view name) const;
  std::string Place(std::string_view name) const;

  // The value where there is one; an error where it has another type.
  Result<std::optional<std::string>> Text(std::string_view name) const;
  Result<std::optional<bool>> Flag(std::string_view name) const;
  Result<std::optional<double>> Number(std::string_view name) const;
  // From 0 on. By default up to 2^53: what JSON's numbers hold exactly.
  Result<std::optional<std::uint64_t>> Whole(std::string_view name,
                                             std::uint64_t most = std::uint64_t{1} << 53) const;
  // A number of seconds, 0 to 1,000,000,000.
  Result<std::optional<std::chrono::nanoseconds>> Seconds(std::string_view name) const;
  Result<std::optional<WallTime>> Time(std::string_view name) const;  // ISO 8601
  // As Text, but it must be there and not be empty.
  Result<std::string> RequiredText(std::string_view name) const;
  // "PLACE: must be RANGE, not VALUE", of a number that is there and has a wrong value.
  Error OutOfRange(std::string_view name, std::string_view range) const;
  // An array, or null where there is none.
  Result<const Json*> List(std::string_view name) const;

 private:
  JsonFields(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  const Json* json_;
  std::string place_;
};

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_JSON_JSON_FIELDS_H_
