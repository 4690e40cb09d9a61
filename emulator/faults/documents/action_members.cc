#include "emulator/faults/documents/action_members.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/faults/documents/action_fields.h"
#include "emulator/faults/documents/condition_document.h"
#include "emulator/traffic/latency_profile.h"

namespace penstock::emulator::faults {

Result<Action> ReadTlsAbort(const Json& json, const std::string& place) {
  using Kind = TlsAbortAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds{
      {{"handshake-failure", Kind::kHandshakeFailure},
       {"protocol-version", Kind::kProtocolVersion},
       {"no-application-protocol", Kind::kNoApplicationProtocol},
       {"truncated", Kind::kTruncated}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode"}));
  TlsAbortAction abort;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, abort.kind));
  return Action(abort);
}

Result<Action> ReadTlsCertificate(const Json& json, const std::string& place) {
  using Kind = TlsCertificateAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{
      {{"expired", Kind::kExpired},
       {"not-yet-valid", Kind::kNotYetValid},
       {"wrong-host", Kind::kWrongHost},
       {"self-signed", Kind::kSelfSigned},
       {"unknown-authority", Kind::kUnknownAuthority}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode"}));
  TlsCertificateAction certificate;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, certificate.kind));
  return Action(certificate);
}

Result<Action> ReadGoAway(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"requests"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> requests, fields.Whole("requests"));
  if (!requests || *requests == 0)
    return FieldError(fields.Place("requests"),
                      "must be at least 1: the number of requests per connection");
  return Action(GoAwayAction{.requests = *requests});
}

Result<Action> ReadConnectionLimit(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"most"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> most, fields.Whole("most"));
  if (!most)
    return FieldError(fields.Place("most"), "is missing: set the number of concurrent connections");
  return Action(ConnectionLimitAction{.most = *most});
}

namespace {

Result<void> RequireUnlikeS3(const JsonFields& fields) {
  PENSTOCK_ASSIGN(const std::optional<bool> unlike, fields.Flag("unlike_s3"));
  if (unlike.value_or(false)) return Ok();
  return FieldError(
      fields.Place("unlike_s3"),
      "must be true, because no correct S3 server does this; add \"unlike_s3\": true");
}

}  // namespace

Result<Action> ReadDuplicate(const Json& json, const std::string& place) {
  using Response = DuplicateAction::Response;
  constexpr std::array<std::pair<std::string_view, Response>, 2> kResponses{
      {{"second", Response::kSecond}, {"first", Response::kFirst}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"answer"}));
  DuplicateAction duplicate;
  PENSTOCK_TRY(ReadKind(fields, "answer", kResponses, duplicate.response));
  return Action(duplicate);
}

Result<Action> ReadCommitPartial(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"bytes", "unlike_s3"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> bytes, fields.Whole("bytes"));
  if (!bytes)
    return FieldError(fields.Place("bytes"), "is missing: set the number of bytes to keep");
  PENSTOCK_TRY(RequireUnlikeS3(fields));
  return Action(CommitPartialAction{.bytes = *bytes});
}

Result<Action> ReadDelayVisibility(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"ms", "unlike_s3"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> ms, fields.Whole("ms"));
  if (!ms) return FieldError(fields.Place("ms"), "is missing: set the time in milliseconds");
  if (*ms < 1 || *ms > kLongestMs) return fields.OutOfRange("ms", "1 to 3600000 milliseconds");
  PENSTOCK_TRY(RequireUnlikeS3(fields));
  return Action(DelayVisibilityAction{.time = std::chrono::milliseconds(*ms)});
}

namespace {

// Reads a pattern or a list of patterns.
Result<void> ReadKeys(const Json& json, const std::string& place, std::vector<Pattern>& into) {
  constexpr std::size_t kMaxPatterns = 1'000;  // The limit of entries in a DeleteObjects request.
  if (!json.is_array()) {
    PENSTOCK_ASSIGN(Pattern pattern, ReadPattern(json, place));
    into.push_back(std::move(pattern));
    return Ok();
  }
  if (json.empty()) return FieldError(place, "is empty: remove it to match every key");
  if (json.size() > kMaxPatterns)
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
  PENSTOCK_TRY(ReadXmlText(fields, "code", failure.code));
  if (failure.code.empty())
    return FieldError(fields.Place("code"), "is empty; set an S3 error code such as SlowDown");
  PENSTOCK_TRY(ReadXmlText(fields, "message", failure.message));
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
  constexpr std::size_t kMaxValues = 10'000;
  if (list.empty() || list.size() > kMaxValues)
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

// Reads one of: {"ms": 30}, {"min_ms": 10, "max_ms": 50}, {"floor_ms": 12, "median_ms": 18,
// "sigma": 0.5}, {"profile": "s3-standard"}, {"trace_ms": [12, 340, 9]}.
Result<Action> ReadLatency(const Json& json, const std::string& place) {
  constexpr auto kMax = static_cast<double>(kLongestMs);
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place,
                                   {"ms", "min_ms", "max_ms", "floor_ms", "median_ms", "sigma",
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
  if (fields.Has("min_ms") != fields.Has("max_ms")) {
    return FieldError(fields.Place(fields.Has("min_ms") ? "max_ms" : "min_ms"),
                      "is missing: a range needs min_ms and max_ms; for a fixed time use ms");
  }
  if (fields.Has("sigma") && !fields.Has("median_ms"))
    return FieldError(fields.Place("median_ms"), "is missing: sigma is the spread around it");
  for (const std::string_view name : {"ms", "min_ms", "floor_ms"})
    PENSTOCK_TRY(ReadAmount(fields, name, kMax, latency.floor_ms));
  PENSTOCK_TRY(ReadAmount(fields, "max_ms", kMax, latency.max_ms));
  if (fields.Has("max_ms") && latency.max_ms < latency.floor_ms)
    return FieldError(fields.Place("max_ms"), "must not be less than min_ms");
  PENSTOCK_TRY(ReadAmount(fields, "median_ms", kMax, latency.median_ms));
  PENSTOCK_TRY(ReadAmount(fields, "sigma", 3, latency.sigma));
  if (latency.floor_ms <= 0 && latency.max_ms <= 0 && latency.median_ms <= 0) {
    return FieldError(
        place,
        "has no delay: set ms, min_ms and max_ms, median_ms and sigma, profile, or trace_ms");
  }
  return Action(std::move(latency));
}

}  // namespace penstock::emulator::faults
