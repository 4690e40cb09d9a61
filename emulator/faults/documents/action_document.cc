#include "emulator/faults/documents/action_document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/ascii.h"
#include "emulator/faults/documents/action_fields.h"
#include "emulator/faults/documents/action_members.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::faults {
namespace {

using Milliseconds = std::chrono::milliseconds;

Result<void> ReadText(const JsonFields& fields, std::string_view name, std::string& into) {
  PENSTOCK_ASSIGN(const std::optional<std::string> text, fields.Text(name));
  if (text) into = *text;
  return Ok();
}

Result<void> ReadFlag(const JsonFields& fields, std::string_view name, bool& into) {
  PENSTOCK_ASSIGN(const std::optional<bool> flag, fields.Flag(name));
  if (flag) into = *flag;
  return Ok();
}

// Rejects headers that the HTTP layer derives from the body and the connection.
Result<void> CheckErrorHeaders(const JsonFields& fields, const ErrorAction& error) {
  constexpr std::array<std::string_view, 3> kFramingHeaders{"content-length", "transfer-encoding",
                                                            "connection"};
  for (const auto& [name, value] : error.headers) {
    const std::string lower = AsciiLower(name);
    if (std::find(kFramingHeaders.begin(), kFramingHeaders.end(), lower) == kFramingHeaders.end())
      continue;
    return FieldError(fields.Place("headers") + "." + name,
                      "cannot be set: the framing of the response follows from `body`, `chunked` "
                      "and `close`; for a wrong Content-Length use header_lie");
  }
  return Ok();
}

Result<void> ReadErrorFields(const JsonFields& fields, ErrorAction& error) {
  constexpr std::array<std::pair<std::string_view, ErrorBody>, 5> kBodies{
      {{"xml", ErrorBody::kXml},
       {"empty", ErrorBody::kEmpty},
       {"html", ErrorBody::kHtml},
       {"json", ErrorBody::kJson},
       {"truncated-xml", ErrorBody::kTruncatedXml}}};
  PENSTOCK_TRY(ReadXmlText(fields, "message", error.message));
  if (fields.Has("retry_after_ms")) {
    error.retry_after.emplace();
    PENSTOCK_TRY(ReadMs(fields, "retry_after_ms", *error.retry_after));
  }
  PENSTOCK_TRY(ReadHeaders(fields, "headers", error.headers));
  PENSTOCK_TRY(CheckErrorHeaders(fields, error));
  PENSTOCK_TRY(ReadKind(fields, "body", kBodies, error.body));
  PENSTOCK_TRY(ReadFlag(fields, "close", error.close));
  PENSTOCK_ASSIGN(error.chunked, fields.Flag("chunked"));
  return Ok();
}

// The status defaults to that of the code.
Result<Action> ReadError(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place,
                                   {"status", "code", "message", "retry_after_ms", "headers",
                                    "body", "close", "chunked"}));
  ErrorAction error{.status = 500, .code = "InternalError"};
  PENSTOCK_TRY(ReadXmlText(fields, "code", error.code));
  if (const s3::ErrorInfo* info = s3::FindErrorInfo(error.code)) error.status = info->status;
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> status, fields.Whole("status"));
  if (status && (*status < 200 || *status > 599)) return fields.OutOfRange("status", "200 to 599");
  if (status) error.status = static_cast<int>(*status);
  PENSTOCK_TRY(ReadErrorFields(fields, error));
  return Action(std::move(error));
}

Result<Action> ReadSlowDown(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place,
                                                            {"message", "retry_after_ms", "headers",
                                                             "body", "close", "chunked"}));
  ErrorAction error{.status = 503, .code = "SlowDown", .close = true};
  PENSTOCK_TRY(ReadErrorFields(fields, error));
  return Action(std::move(error));
}

Result<Action> ReadLateError(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"code", "message", "after_ms", "every_ms"}));
  LateErrorAction error;
  PENSTOCK_TRY(ReadXmlText(fields, "code", error.code));
  PENSTOCK_TRY(ReadXmlText(fields, "message", error.message));
  PENSTOCK_TRY(ReadMs(fields, "after_ms", error.after));
  PENSTOCK_TRY(ReadMs(fields, "every_ms", error.every));
  if (error.every.count() == 0) return FieldError(fields.Place("every_ms"), "must be more than 0");
  return Action(std::move(error));
}

template <DropKind kind>
Result<Action> ReadDrop(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {}));
  return Action(DropAction{.kind = kind});
}

Result<Action> ReadHang(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"ms"}));
  DropAction drop{.kind = DropKind::kHang};
  PENSTOCK_TRY(ReadMs(fields, "ms", drop.hang));
  return Action(drop);
}

Result<Action> ReadStall(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"ms"}));
  StallAction stall;
  PENSTOCK_TRY(NeedMs(fields, "ms", stall.time));
  return Action(stall);
}

Result<Action> ReadDrip(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"bytes", "every_ms"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> bytes, fields.Whole("bytes"));
  Milliseconds every{};
  PENSTOCK_TRY(NeedMs(fields, "every_ms", every));
  if (!bytes || *bytes == 0)
    return FieldError(fields.Place("bytes"),
                      "must be at least 1: the number of bytes per interval");
  if (every.count() == 0) return FieldError(fields.Place("every_ms"), "must be more than 0");
  const double rate = static_cast<double>(*bytes) * 1'000 / static_cast<double>(every.count());
  return Action(
      PaceAction{.bytes_per_second = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rate)),
                 .piece = *bytes,
                 .every = every});
}

Result<Action> ReadBandwidth(const Json& json, const std::string& place) {
  using Scope = PaceAction::Scope;
  constexpr std::array<std::pair<std::string_view, Scope>, 5> kScopes{
      {{"request", Scope::kRequest},
       {"connection", Scope::kConnection},
       {"client", Scope::kClient},
       {"bucket", Scope::kBucket},
       {"server", Scope::kServer}}};
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"bytes_per_second", "scope"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> rate, fields.Whole("bytes_per_second"));
  if (!rate || *rate == 0)
    return FieldError(fields.Place("bytes_per_second"), "must be at least 1");
  PaceAction pace{.bytes_per_second = *rate};
  PENSTOCK_TRY(ReadKind(fields, "scope", kScopes, pace.scope));
  return Action(pace);
}

Result<Action> ReadCorrupt(const Json& json, const std::string& place) {
  constexpr std::array<std::pair<std::string_view, CorruptKind>, 5> kKinds{
      {{"flip-bit", CorruptKind::kFlipBit},
       {"zero", CorruptKind::kZero},
       {"repeat-block", CorruptKind::kRepeatBlock},
       {"swap-halves", CorruptKind::kSwapHalves},
       {"stale-version", CorruptKind::kStaleVersion}}};
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"mode", "length", "fix_checksum"}));
  CorruptAction corrupt;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, corrupt.kind));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> length, fields.Whole("length"));
  constexpr std::uint64_t kLongest = 1 << 20;
  constexpr std::uint64_t kBlock = 4096;
  if (length && (*length < 1 || *length > kLongest))
    return fields.OutOfRange("length", "1 to 1048576 bytes");
  const bool needs_two = corrupt.kind == CorruptKind::kSwapHalves;
  if (length && needs_two && *length < 2)
    return FieldError(fields.Place("length"), "must be at least 2 bytes, not " +
                                                  std::to_string(*length) + ", to have two halves");
  if (corrupt.kind == CorruptKind::kRepeatBlock || needs_two) corrupt.length = kBlock;
  if (corrupt.kind == CorruptKind::kStaleVersion) corrupt.length = 0;
  if (length) corrupt.length = *length;
  PENSTOCK_TRY(ReadFlag(fields, "fix_checksum", corrupt.fix_checksum));
  return Action(corrupt);
}

Result<Action> ReadTruncate(const Json& json, const std::string& place) {
  using Kind = TruncateAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds{
      {{"fin", Kind::kFin},
       {"reset", Kind::kReset},
       {"length-lie", Kind::kLengthLie},
       {"no-terminator", Kind::kNoTerminator}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode"}));
  TruncateAction truncate;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, truncate.kind));
  return Action(truncate);
}

// The HTTP layer writes these two headers itself.
Result<void> CheckLieHeader(const std::string& place, std::string_view name) {
  if (!s3::EqualsIgnoreCase(name, "transfer-encoding") && !s3::EqualsIgnoreCase(name, "connection"))
    return Ok();
  return FieldError(
      place + "." + std::string(name),
      "cannot be changed: it follows from the body and the connection; drop Content-Length to send "
      "a chunked body, or end the connection with fin or with `close` of error");
}

// The HTTP layer writes Content-Length as a number.
Result<void> CheckLieValue(const std::string& place, const std::string& name,
                           const std::string& value) {
  if (!s3::EqualsIgnoreCase(name, "content-length")) return Ok();
  const std::optional<std::uint64_t> length = s3::ParseDecimal(value);
  if (length && std::to_string(*length) == value) return Ok();
  return FieldError(place + "." + name,
                    "must be a whole number from 0 to 18446744073709551615, in decimal digits "
                    "without leading zeros, not '" +
                        value + "'; to send none, use drop");
}

Result<Action> ReadHeaderLie(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"set", "drop", "repeat"}));
  HeaderAction headers;
  PENSTOCK_TRY(ReadHeaders(fields, "set", headers.set));
  PENSTOCK_TRY(ReadHeaderNames(fields, "drop", headers.drop));
  PENSTOCK_TRY(ReadHeaderNames(fields, "repeat", headers.repeat));
  if (headers.set.empty() && headers.drop.empty() && headers.repeat.empty()) {
    return FieldError(place, "changes nothing: add set, drop or repeat");
  }
  for (const auto& [name, value] : headers.set) {
    PENSTOCK_TRY(CheckLieHeader(fields.Place("set"), name));
    PENSTOCK_TRY(CheckLieValue(fields.Place("set"), name, value));
  }
  for (const std::string& name : headers.drop)
    PENSTOCK_TRY(CheckLieHeader(fields.Place("drop"), name));
  for (const std::string& name : headers.repeat)
    PENSTOCK_TRY(CheckLieHeader(fields.Place("repeat"), name));
  return Action(std::move(headers));
}

Result<Action> ReadRedirect(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"status", "location", "region"}));
  RedirectAction redirect;
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> status, fields.Whole("status"));
  if (status && *status != 301 && *status != 302 && *status != 307)
    return fields.OutOfRange("status", "301, 302 or 307");
  if (status) redirect.status = static_cast<int>(*status);
  PENSTOCK_TRY(ReadText(fields, "location", redirect.location));
  PENSTOCK_TRY(ReadText(fields, "region", redirect.region));
  for (const auto& [name, text] :
       {std::pair("location", &redirect.location), std::pair("region", &redirect.region)}) {
    if (!IsHeaderText(*text))
      return FieldError(fields.Place(name), "must not have line breaks or bytes of value 0");
  }
  return Action(std::move(redirect));
}

Result<Action> ReadContinue(const Json& json, const std::string& place) {
  using Kind = ContinueAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 3> kKinds{
      {{"never", Kind::kNever}, {"refuse", Kind::kRefuse}, {"late", Kind::kLate}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode", "ms"}));
  ContinueAction action;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, action.kind));
  PENSTOCK_TRY(ReadMs(fields, "ms", action.late));
  if (action.kind == Kind::kLate && action.late.count() == 0)
    return FieldError(fields.Place("ms"), "is missing: set the delay in milliseconds");
  return Action(action);
}

Result<Action> ReadCredentials(const Json& json, const std::string& place) {
  using Kind = CredentialsAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds{
      {{"expired", Kind::kExpired},
       {"invalid-token", Kind::kInvalidToken},
       {"invalid-key", Kind::kInvalidKey},
       {"revoked-session", Kind::kRevokedSession}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode"}));
  CredentialsAction credentials;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, credentials.kind));
  return Action(credentials);
}

Result<Action> ReadSkew(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"ahead_s"}));
  PENSTOCK_ASSIGN(const std::optional<double> ahead, fields.Number("ahead_s"));
  constexpr double kMax = 10 * 365 * 86'400.0;
  if (!ahead || !(std::abs(*ahead) <= kMax)) {
    return fields.OutOfRange("ahead_s",
                             "a number of seconds, up to ten years (315360000) either way");
  }
  return Action(SkewAction{.ahead = Milliseconds(std::llround(*ahead * 1'000))});
}

struct Kind {
  std::string_view name;
  Result<Action> (*read)(const Json& json, const std::string& place);
  Stage stage;           // The default stage.
  std::uint32_t stages;  // Bit n: the action is allowed at Stage n.
};

template <class... Stages>
constexpr std::uint32_t At(Stages... stages) {
  return (... | (1U << static_cast<unsigned>(stages)));
}
constexpr std::uint32_t kReplacing =
    At(Stage::kHeaders, Stage::kBodyIn, Stage::kBeforeCommit, Stage::kAfterCommit);
constexpr std::uint32_t kAnywhere = ((1U << 9) - 1) & ~At(Stage::kAccept);
constexpr std::uint32_t kAnywhereOrAccept = kAnywhere | At(Stage::kAccept);

constexpr std::array<Kind, 26> kKinds{{
    {"error", ReadError, Stage::kBeforeCommit, kReplacing},
    {"slow_down", ReadSlowDown, Stage::kHeaders, kReplacing},
    {"late_error", ReadLateError, Stage::kAfterCommit,
     At(Stage::kBeforeCommit, Stage::kAfterCommit)},
    {"partial_failure", ReadPartialFailure, Stage::kBeforeCommit, At(Stage::kBeforeCommit)},
    {"duplicate_apply", ReadDuplicate, Stage::kBeforeCommit, At(Stage::kBeforeCommit)},
    {"commit_partial", ReadCommitPartial, Stage::kBeforeCommit, At(Stage::kBeforeCommit)},
    {"delay_visibility", ReadDelayVisibility, Stage::kBeforeCommit, At(Stage::kBeforeCommit)},
    {"reset", ReadDrop<DropKind::kReset>, Stage::kHeaders, kAnywhereOrAccept},
    {"fin", ReadDrop<DropKind::kFin>, Stage::kHeaders, kAnywhereOrAccept},
    {"half_close", ReadDrop<DropKind::kHalfClose>, Stage::kHeaders, kAnywhere},
    {"black_hole", ReadHang, Stage::kHeaders, kAnywhere},
    {"stall", ReadStall, Stage::kHeaders, kAnywhere},
    {"drip", ReadDrip, Stage::kBodyOut, At(Stage::kBodyIn, Stage::kBodyOut)},
    {"bandwidth", ReadBandwidth, Stage::kBodyOut, At(Stage::kBodyIn, Stage::kBodyOut)},
    {"latency", ReadLatency, Stage::kAfterCommit,
     At(Stage::kHeaders, Stage::kBeforeCommit, Stage::kAfterCommit)},
    {"corrupt", ReadCorrupt, Stage::kBodyOut, At(Stage::kBodyOut)},
    {"truncate", ReadTruncate, Stage::kBodyOut, At(Stage::kBodyOut)},
    {"header_lie", ReadHeaderLie, Stage::kAfterCommit, At(Stage::kAfterCommit)},
    {"redirect", ReadRedirect, Stage::kHeaders, kReplacing},
    {"expect_100", ReadContinue, Stage::kHeaders, At(Stage::kHeaders)},
    {"credentials", ReadCredentials, Stage::kHeaders, At(Stage::kHeaders)},
    {"clock_skew", ReadSkew, Stage::kHeaders, At(Stage::kHeaders)},
    {"tls_abort", ReadTlsAbort, Stage::kAccept, At(Stage::kAccept)},
    {"tls_certificate", ReadTlsCertificate, Stage::kAccept, At(Stage::kAccept)},
    {"goaway", ReadGoAway, Stage::kAccept, At(Stage::kAccept)},
    {"connection_limit", ReadConnectionLimit, Stage::kAccept, At(Stage::kAccept)},
}};

constexpr std::array<std::string_view, 9> kStages{"accept",        "headers",      "body_in",
                                                  "before_commit", "after_commit", "status",
                                                  "body_out",      "trailer",      "close"};

// Parses "body_out@65536" or "before_commit".
Result<Point> ReadPoint(std::string_view text, const std::string& place) {
  const std::size_t mark = text.find('@');
  const auto* const found = std::find(kStages.begin(), kStages.end(), text.substr(0, mark));
  Point point;
  if (found == kStages.end()) {
    std::string known;
    for (const std::string_view stage : kStages)
      known += (known.empty() ? "" : ", ") + std::string(stage);
    return FieldError(place, "'" + std::string(text) + "' is not a stage: expected one of " +
                                 known + ", or body_in@N or body_out@N for an offset of N bytes");
  }
  point.stage = static_cast<Stage>(found - kStages.begin());
  if (mark == std::string_view::npos) return point;
  const std::string_view offset = text.substr(mark + 1);
  const auto [end, error] =
      std::from_chars(offset.data(), offset.data() + offset.size(), point.offset);
  const bool counted = point.stage == Stage::kBodyIn || point.stage == Stage::kBodyOut;
  if (!counted || offset.empty() || error != std::errc() || end != offset.data() + offset.size()) {
    return FieldError(place, "'" + std::string(text) +
                                 "': only body_in and body_out accept @N, a number of bytes");
  }
  return point;
}

}  // namespace

std::vector<std::string_view> ActionNames() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

namespace {

// Describes an element without a known action.
std::string ProblemWithout(const Json& json) {
  for (const auto& [name, value] : json.items()) {
    if (name != "at") return "unknown action '" + name + "'";
  }
  return "has no action";
}

}  // namespace

Result<TimedAction> ReadAction(const Json& json, const std::string& place) {
  if (!json.is_object())
    return FieldError(place, "must be a JSON object such as {\"slow_down\": {}}");
  const Kind* chosen = nullptr;
  for (const auto& [name, value] : json.items()) {
    const auto* const kind =
        std::find_if(kKinds.begin(), kKinds.end(),
                     [&member = name](const Kind& known) { return known.name == member; });
    if (kind == kKinds.end()) continue;
    if (chosen != nullptr)
      return FieldError(place, "has two actions; put each in a separate element of `do`");
    chosen = kind;
  }
  if (chosen == nullptr) {
    std::string known;
    for (const Kind& kind : kKinds) known += (known.empty() ? "" : ", ") + std::string(kind.name);
    return FieldError(place, ProblemWithout(json) + "; expected one of " + known);
  }
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {chosen->name, "at"}));
  TimedAction timed;
  PENSTOCK_ASSIGN(timed.action,
                  chosen->read(*fields.Find(chosen->name), fields.Place(chosen->name)));
  timed.at.stage = chosen->stage;
  timed.name = chosen->name;
  PENSTOCK_ASSIGN(const std::optional<std::string> at, fields.Text("at"));
  if (!at) return timed;
  PENSTOCK_ASSIGN(timed.at, ReadPoint(*at, fields.Place("at")));
  if ((chosen->stages >> static_cast<unsigned>(timed.at.stage) & 1) == 0) {
    return FieldError(fields.Place("at"),
                      "'" + std::string(chosen->name) + "' cannot happen at '" + *at + "'");
  }
  if (std::holds_alternative<PaceAction>(timed.action) && timed.at.offset > 0) {
    return FieldError(fields.Place("at"),
                      "'" + std::string(chosen->name) + "' applies to the whole body: remove @N");
  }
  return timed;
}

}  // namespace penstock::emulator::faults
