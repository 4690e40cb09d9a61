// The log of the process: levels, and the sink that receives its lines.
//
//   SetLogSink(LogLevel::kInfo, [](LogLevel, const std::string& line) { std::cerr << line << "\n";
//   });
#ifndef PENSTOCK_BASE_LOG_H_
#define PENSTOCK_BASE_LOG_H_

#include <functional>
#include <string>
#include <string_view>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// Of the client: kDebug is every attempt, kInfo a new client and a call that ended with an expected
// error (not found, a precondition, a cancellation), kWarning a retry, kError a failed call.
enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

// Receives a line as one JSON object: {"level":..., "event":..., fields}. Lines contain no secrets:
// keys, tokens and signatures are replaced by "***".
//
// Thread safety: a sink is called from any thread, one call at a time. Lines that a sink logs
// itself are dropped. A sink must be quick, because it runs on I/O threads, and it must not call
// SetLogSink. If a sink throws, its line is lost and counted by the diagnostic log.line_lost.
using LogSink = std::function<void(LogLevel level, const std::string& json_line)>;

// Parses "trace", "debug", "info", "warning" or "warn", "error", "off". Any other text is kOff.
LogLevel ParseLogLevel(std::string_view text);

// Replaces the sink of the process. A null sink writes to standard error and prepends the time
// (UTC) and the pid; this is also the sink before the first call. Nothing is logged until then, or
// until a Client is created while PENSTOCK_LOG is set. Each such Client sets the level of the
// process to that of PENSTOCK_LOG and keeps the sink. After SetLogSink returns, the previous sink
// is not called again. Thread safety: any thread.
void SetLogSink(LogLevel least, LogSink sink);

}  // namespace penstock

#endif  // PENSTOCK_BASE_LOG_H_
