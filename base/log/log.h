// Structured log lines with secrets redacted. The program chooses the level and the sink.
#ifndef PENSTOCK_BASE_LOG_LOG_H_
#define PENSTOCK_BASE_LOG_LOG_H_

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace penstock {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

// The value of a field: a text, or a JSON number.
class LogValue {
 public:
  template <typename Text>
  requires std::convertible_to<const Text&, std::string_view> LogValue(const Text& text)
      : text_(text) {}  // NOLINT: implicit on purpose
  // `digits` is a JSON number, for example from std::to_string.
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

// One line: an event name and fields in order. The views are used only during the call.
struct LogRecord {
  LogLevel level = LogLevel::kInfo;
  std::string_view event;  // "request.retry"
  std::initializer_list<std::pair<std::string_view, LogValue>> fields;
};

// Thread safety: a sink is called from any thread, one call at a time. Lines that a sink logs
// itself are dropped. A sink must not call SetLogSink. If a sink throws, its line is lost.
using LogSink = std::function<void(LogLevel level, const std::string& json_line)>;

// Parses "trace", "debug", "info", "warning" or "warn", "error", "off". Any other text is kOff.
LogLevel ParseLogLevel(std::string_view text);

// Replaces the sink of the process. A null sink writes to standard error and prepends the time
// (UTC) and the pid. Before the first call, nothing is logged. After it returns, the previous sink
// is not called again. Thread safety: any thread.
void SetLogSink(LogLevel least, LogSink sink);
bool LogEnabled(LogLevel level);
// Renders {"level":..., "event":..., fields} as one JSON line and passes it to the sink. Applies
// Redact (base/text/redact.h) to each value. The value of a field whose name is that of a secret
// becomes "***". Bytes that are not UTF-8 become U+FFFD.
void Log(const LogRecord& record);

}  // namespace penstock

#endif  // PENSTOCK_BASE_LOG_LOG_H_
