#include "emulator/server/process/diagnostic_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/dates.h"
#include "base/log/log.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::server {

Result<void> StartDiagnosticLog(const std::string& path) {
  if (path == "-") {
    SetLogSink(LogLevel::kWarning, nullptr);
    return Ok();
  }
  const int opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (opened < 0) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "diagnostic log '" + path + "' cannot be written: " + std::strerror(errno) +
                           "; choose a path this user may write");
  }
  // Shared, because sinks are copied.
  const std::shared_ptr<const int> file(new int(opened), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  SetLogSink(LogLevel::kWarning, [file](LogLevel, const std::string& json_line) {
    std::string line = "{\"time\":\"" + FormatIso8601(SystemClock().Now()) + "\",";
    line.append(json_line, 1) += '\n';
    // One write per line: the kernel keeps lines of an O_APPEND file whole. Lines that cannot be
    // written are dropped.
    while (::write(*file, line.data(), line.size()) < 0 && errno == EINTR) {
    }
  });
  return Ok();
}

}  // namespace penstock::emulator::server
