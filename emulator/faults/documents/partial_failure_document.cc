#include "emulator/faults/documents/partial_failure_document.h"

#include <optional>
#include <utility>

#include "emulator/faults/documents/condition_document.h"

namespace penstock::emulator::faults {
namespace {

// Reads a pattern or a list of patterns.
Result<void> ReadKeys(const Json& json, const std::string& place, std::vector<Pattern>& into) {
  constexpr std::size_t kMostPatterns = 1'000;  // The limit of entries in a DeleteObjects request.
  if (!json.is_array()) {
    PENSTOCK_ASSIGN(Pattern pattern, ReadPattern(json, place));
    into.push_back(std::move(pattern));
    return Ok();
  }
  if (json.empty()) return FieldError(place, "is empty: remove it to match every key");
  if (json.size() > kMostPatterns)
    return FieldError(place,
                      "has " + std::to_string(json.size()) + " patterns, and the limit is 1000");
  for (std::size_t i = 0; i < json.size(); ++i) {
    PENSTOCK_ASSIGN(Pattern pattern, ReadPattern(json[i], place + "[" + std::to_string(i) + "]"));
    into.push_back(std::move(pattern));
  }
  return Ok();
}

}  // namespace

Result<Action> ReadPartialFailure(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, place, {"code", "message", "key", "entries", "most", "probability"}));
  PartialFailureAction failure;
  PENSTOCK_ASSIGN(const std::optional<std::string> code, fields.Text("code"));
  if (code && code->empty())
    return FieldError(fields.Place("code"), "is empty; set an S3 error code such as SlowDown");
  if (code) failure.code = *code;
  PENSTOCK_ASSIGN(const std::optional<std::string> message, fields.Text("message"));
  if (message) failure.message = *message;
  if (const Json* key = fields.Find("key"))
    PENSTOCK_TRY(ReadKeys(*key, fields.Place("key"), failure.keys));
  PENSTOCK_TRY(ReadCounts(fields, "entries", failure.entries));
  PENSTOCK_ASSIGN(failure.most, fields.Whole("most"));
  if (failure.most && *failure.most == 0)
    return FieldError(fields.Place("most"),
                      "must be at least 1: the number of failing entries per request");
  PENSTOCK_ASSIGN(const std::optional<double> probability, fields.Number("probability"));
  if (probability && !(*probability > 0 && *probability <= 1)) {
    return FieldError(fields.Place("probability"), "must be more than 0 and at most 1");
  }
  failure.probability = probability.value_or(1);
  return Action(std::move(failure));
}

}  // namespace penstock::emulator::faults
