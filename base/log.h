// Structured log lines to a sink, with secrets redacted. What level and where is decided by the
// program, not here.
#ifndef PENSTOCK_BASE_LOG_H_
#define PENSTOCK_BASE_LOG_H_

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace penstock {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

// What a field says: a text, or a number as JSON writes it.
class LogValue {
 public:
  template <typename Text>
  requires std::convertible_to<const Text&, std::string_view> LogValue(const Text& text)
      : text_(text) {}  // NOLINT: fields are written as they are
  // `digits`: a JSON number, such as what std::to_string gives.
  static LogValue Number(std::string_view digits) {
    LogValue value(digits);
    value.number_ = true;
    return value;
  }

  std::string_view text() const { return text_; }
  bool number() const { return number_; }

 private:
  std::string_view text_;
  bool number_ = false;
};

// One line: an event name and fields in order. Views live during the call only.
struct LogRecord {
  LogLevel level = LogLevel::kInfo;
  std::string_view event;  // "request.retry"
  std::initializer_list<std::pair<std::string_view, LogValue>> fields;
};

// Thread safety: a sink is called from any thread, one call at a time. What a sink logs itself is
// dropped; it must not call SetLogSink. A line whose sink throws is lost.
using LogSink = std::function<void(LogLevel level, const std::string& json_line)>;

// Parses "trace", "debug", "info", "warning" or "warn", "error", "off"; anything else is kOff.
LogLevel ParseLogLevel(std::string_view text);

// Replaces the process's sink; a null sink writes to standard error, with the time (UTC) and the
// pid in front. Until the first call nothing is logged. Once it returns, the sink before is not
// called any more. Thread safety: any thread.
void SetLogSink(LogLevel least, LogSink sink);
bool LogEnabled(LogLevel level);
// Renders {"level":..., "event":..., fields} as one JSON line with Redact applied to each value,
// and hands it on. A value whose own field name is that of a secret becomes "***". Bytes that are
// not UTF-8 become U+FFFD.
void Log(const LogRecord& record);

// The text with everything that can be a secret replaced by "***": values of Authorization,
// X-Amz-Signature, X-Amz-Credential, X-Amz-Security-Token, x-amz-s3session-token, SecretAccessKey,
// SessionToken, SSE-C keys, in header, query, XML, JSON and key=value form, and the user and
// password of URLs.
std::string Redact(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_LOG_H_
