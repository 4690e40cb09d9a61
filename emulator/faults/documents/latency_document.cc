#include "emulator/faults/documents/latency_document.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/faults/documents/milliseconds_document.h"
#include "emulator/traffic/latency_profile.h"

namespace penstock::emulator::faults {
namespace {

Result<void> ReadAmount(const JsonFields& fields, std::string_view name, double most,
                        double& into) {
  PENSTOCK_ASSIGN(const std::optional<double> number, fields.Number(name));
  if (!number) return Ok();
  if (!(*number >= 0 && *number <= most)) {
    return fields.OutOfRange(name, "0 to " + std::to_string(static_cast<std::uint64_t>(most)));
  }
  into = *number;
  return Ok();
}

// Reads a list of measured times.
Result<std::vector<double>> ReadTrace(const Json& list, const std::string& place) {
  constexpr std::size_t kMostValues = 10'000;
  if (list.empty() || list.size() > kMostValues)
    return FieldError(place, "must have 1 to 10000 values, not " + std::to_string(list.size()));
  std::vector<double> trace;
  for (const Json& value : list) {
    const double ms = value.is_number() ? value.get<double>() : -1;
    if (!(ms >= 0 && ms <= static_cast<double>(kLongestMs))) {
      return FieldError(place + "[" + std::to_string(trace.size()) + "]",
                        "must be 0 to 3600000 milliseconds, not " + value.dump());
    }
    trace.push_back(ms);
  }
  return trace;
}

}  // namespace

// Reads one of: {"ms": 30}, {"least_ms": 10, "most_ms": 50}, {"floor_ms": 12, "median_ms": 18,
// "sigma": 0.5}, {"profile": "s3-standard"}, {"trace_ms": [12, 340, 9]}.
Result<Action> ReadLatency(const Json& json, const std::string& place) {
  constexpr auto kMost = static_cast<double>(kLongestMs);
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place,
                                   {"ms", "least_ms", "most_ms", "floor_ms", "median_ms", "sigma",
                                    "profile", "trace_ms"}));
  LatencyAction latency;
  PENSTOCK_ASSIGN(const std::optional<std::string> profile, fields.Text("profile"));
  if (profile && !profile->empty()) {
    latency.profile = *profile;
    if (auto found = traffic::FindProfile(latency.profile); !found.ok())
      return FieldError(fields.Place("profile"), found.error().message);
    if (json.size() > 1)
      return FieldError(place, "`profile` excludes all other members: remove them");
    return Action(std::move(latency));
  }
  PENSTOCK_ASSIGN(const Json* const trace, fields.List("trace_ms"));
  if (trace != nullptr) {
    if (json.size() > 1)
      return FieldError(place, "`trace_ms` excludes all other members: remove them");
    PENSTOCK_ASSIGN(latency.trace_ms, ReadTrace(*trace, fields.Place("trace_ms")));
    return Action(std::move(latency));
  }
  if (fields.Has("least_ms") != fields.Has("most_ms")) {
    return FieldError(fields.Place(fields.Has("least_ms") ? "most_ms" : "least_ms"),
                      "is missing: a range needs least_ms and most_ms; for a fixed time use ms");
  }
  if (fields.Has("sigma") && !fields.Has("median_ms"))
    return FieldError(fields.Place("median_ms"), "is missing: sigma is the spread around it");
  for (const std::string_view name : {"ms", "least_ms", "floor_ms"})
    PENSTOCK_TRY(ReadAmount(fields, name, kMost, latency.floor_ms));
  PENSTOCK_TRY(ReadAmount(fields, "most_ms", kMost, latency.most_ms));
  if (fields.Has("most_ms") && latency.most_ms < latency.floor_ms)
    return FieldError(fields.Place("most_ms"), "must not be less than least_ms");
  PENSTOCK_TRY(ReadAmount(fields, "median_ms", kMost, latency.median_ms));
  PENSTOCK_TRY(ReadAmount(fields, "sigma", 3, latency.sigma));
  if (latency.floor_ms <= 0 && latency.most_ms <= 0 && latency.median_ms <= 0) {
    return FieldError(
        place,
        "has no delay: set ms, least_ms and most_ms, median_ms and sigma, profile, or trace_ms");
  }
  return Action(std::move(latency));
}

}  // namespace penstock::emulator::faults
