// Strict readers of JSON objects: rejects unknown fields and wrong types, and names the field.
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

// Limits of ParseJson. Parsing takes linear time. The member limit also bounds lookups in a Json
// object, which are linear in its members.
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonMembers = 256;  // of one object
inline constexpr std::size_t kMaxJsonValues = 1'000'000;

// Returns kInvalidArgument for a syntax error (with its byte), a duplicate member or an exceeded
// limit (with its place). The message never quotes the text, which may contain secrets.
Result<Json> ParseJson(std::string_view text);

// "PLACE: PROBLEM", or only the problem if `place` is empty. The default kind is kInvalidArgument.
Error FieldError(std::string_view place, std::string problem);
Error FieldError(ErrorKind kind, std::string_view place, std::string problem);

// One object. `place` is its path from the root ("accounts[0]"), empty for the root.
class JsonFields {
 public:
  // Returns an error unless `json` is an object with only `known` fields.
  static Result<JsonFields> Read(const Json& json, std::string place,
                                 std::initializer_list<std::string_view> known);

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  const Json* Find(std::string_view name) const;
  std::string Place(std::string_view name) const;

  // Each returns the value, nullopt if the field is missing, or an error for another type.
  Result<std::optional<std::string>> Text(std::string_view name) const;
  Result<std::optional<bool>> Flag(std::string_view name) const;
  Result<std::optional<double>> Number(std::string_view name) const;
  // An integer from 0 to `most`. The default is 2^53 - 1: from 2^53 on, several integers are the
  // same double.
  Result<std::optional<std::uint64_t>> Whole(std::string_view name,
                                             std::uint64_t most = (std::uint64_t{1} << 53) -
                                                                  1) const;
  // A number of seconds, 0 to 1,000,000,000.
  Result<std::optional<std::chrono::nanoseconds>> Seconds(std::string_view name) const;
  Result<std::optional<WallTime>> Time(std::string_view name) const;  // ISO 8601
  // Like Text, but the field must exist and must not be empty.
  Result<std::string> RequiredText(std::string_view name) const;
  // "PLACE: must be RANGE, not VALUE", for an existing number with an invalid value.
  Error OutOfRange(std::string_view name, std::string_view range) const;
  // An array, or null if the field is missing.
  Result<const Json*> List(std::string_view name) const;

 private:
  JsonFields(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  const Json* json_;
  std::string place_;
};

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_JSON_JSON_FIELDS_H_
