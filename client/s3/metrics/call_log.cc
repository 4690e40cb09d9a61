#include "client/s3/metrics/call_log.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/ascii.h"
#include "base/log/log.h"

namespace penstock::s3 {
namespace {

// Formats with a decimal point in every locale.
std::string Milliseconds(std::chrono::nanoseconds time) {
  char text[64];
  const double value = std::chrono::duration<double, std::milli>(time).count();
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 3).ptr};
}

constexpr auto* AsNumber = &LogValue::Number;

// Returns whether the kind is an expected result, which datasets and checkpoints use for checks.
bool IsAskedFor(ErrorKind kind) {
  return kind == ErrorKind::kNotFound || kind == ErrorKind::kPreconditionFailed ||
         kind == ErrorKind::kNotModified || kind == ErrorKind::kCancelled;
}

std::string_view CodeOf(const Error& error) {
  return error.code.empty() ? ErrorKindName(error.kind) : error.code;
}

}  // namespace

Result<void> ApplyLogLevel(const auth::Environment& environment) {
  const auto value = environment.Get("PENSTOCK_LOG");
  if (!value) return Ok();
  const std::string name = AsciiLower(*value);
  if (name == "logging") return Ok();  // The Python package has set the sink and its level.
  const LogLevel level = ParseLogLevel(name);
  // The client logs nothing below an attempt.
  if (level == LogLevel::kTrace || (level == LogLevel::kOff && name != "off")) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        "PENSTOCK_LOG must be off, error, warn, info, debug or logging, not `" + *value + "`");
  }
  SetLogLevel(level);
  return Ok();
}

void LogClientMade(const ClientConfig& config) {
  if (!LogEnabled(LogLevel::kInfo)) return;
  Log({LogLevel::kInfo,
       "client.made",
       {{"region", config.region}, {"endpoint", config.endpoint_url}}});
}

void LogAttempt(const AttemptEnd& end) {
  if (!LogEnabled(LogLevel::kDebug)) return;
  const std::string_view connection = end.connections.opened != 0   ? "new"
                                      : end.connections.reused != 0 ? "kept"
                                                                    : "none";
  Log({LogLevel::kDebug,
       "request",
       {{"operation", Info(end.operation).name},
        {"bucket", end.bucket},
        {"key", end.key},
        {"attempt", AsNumber(std::to_string(end.attempt))},
        {"status", AsNumber(std::to_string(end.http_status))},
        {"code", end.error_code},
        {"first_byte_ms", AsNumber(Milliseconds(end.first_byte))},
        {"ms", AsNumber(Milliseconds(end.duration))},
        {"bytes_sent", AsNumber(std::to_string(end.bytes_sent))},
        {"bytes_received", AsNumber(std::to_string(end.bytes_received))},
        {"connection", connection}}});
}

void LogRetry(const OperationInfo& info, std::string_view bucket, std::string_view key, int attempt,
              RetryDecision decision, std::chrono::nanoseconds delay, const Error& error) {
  if (!LogEnabled(LogLevel::kWarning)) return;
  const std::string_view event =
      decision == RetryDecision::kThrottled ? "request.throttled" : "request.retry";
  Log({LogLevel::kWarning,
       event,
       {{"operation", info.name},
        {"bucket", bucket},
        {"key", key},
        {"attempt", AsNumber(std::to_string(attempt))},
        {"status", AsNumber(std::to_string(error.http_status))},
        {"code", CodeOf(error)},
        {"wait_ms", AsNumber(Milliseconds(delay))},
        {"message", error.message}}});
}

void LogFailure(const Error& error) {
  const LogLevel level = IsAskedFor(error.kind) ? LogLevel::kInfo : LogLevel::kError;
  if (!LogEnabled(level)) return;
  Log({level,
       "request.failed",
       {{"operation", error.operation},
        {"bucket", error.bucket},
        {"key", error.key},
        {"attempts", AsNumber(std::to_string(error.attempts))},
        {"status", AsNumber(std::to_string(error.http_status))},
        {"code", CodeOf(error)},
        {"request_id", error.request_id},
        {"message", error.message}}});
}

}  // namespace penstock::s3
