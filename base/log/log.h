// Structured log lines with secrets redacted. The program chooses the level and the sink.
#ifndef PENSTOCK_BASE_LOG_LOG_H_
#define PENSTOCK_BASE_LOG_LOG_H_

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/export.h"
#include "penstock/base/log.h"

namespace PENSTOCK_EXPORT penstock {

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

// Changes the level of SetLogSink and keeps the sink; without one, lines go to standard error.
void SetLogLevel(LogLevel least);
bool LogEnabled(LogLevel level);
// Renders {"level":..., "event":..., fields} as one JSON line and passes it to the sink. Applies
// Redact (base/text/redact.h) to each value. The value of a field whose name is that of a secret
// becomes "***". Bytes that are not UTF-8 become U+FFFD.
void Log(const LogRecord& record);

}  // namespace penstock

#endif  // PENSTOCK_BASE_LOG_LOG_H_
