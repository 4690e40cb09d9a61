#include "emulator/server/process/diagnostic_log.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "base/dates.h"
#include "base/log/diagnostics.h"
#include "base/log/log.h"
#include "emulator/server/process/log_file.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::server {
namespace {

constinit DiagnosticEvent line_lost("server.diagnostic_log_line_lost");

}  // namespace

Result<void> StartDiagnosticLog(const std::string& path) {
  auto opened = LogFile::Open("diagnostic log", path, line_lost);
  if (!opened.ok() && path == "-") return Ok();  // standard error is closed: nothing is logged
  if (!opened.ok()) return std::move(opened).error();
  // Shared, because sinks are copied.
  const std::shared_ptr<LogFile> file = std::move(*opened);
  // Several processes may share standard error.
  const std::string source = path == "-" ? "\"pid\":" + std::to_string(::getpid()) + "," : "";
  SetLogSink(LogLevel::kWarning, [file, source](LogLevel, const std::string& json_line) {
    std::string line = "{\"time\":\"" + FormatIso8601(SystemClock().Now()) + "\"," + source;
    line.append(json_line, 1) += '\n';
    if (file->Write(line) != 0) line_lost.Count();
  });
  return Ok();
}

}  // namespace penstock::emulator::server
