// One JSON line per request. It never contains a query string, credential, signature or token.
#ifndef PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_
#define PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_

#include <memory>
#include <string>
#include <utility>

#include "emulator/s3/core/exchange.h"
#include "emulator/server/process/log_file.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Formats the line of a finished exchange, including the line feed.
std::string LogLine(const s3::Exchange& exchange, WallTime finished);

// Thread safety: any thread; lines are written whole.
class RequestLog {
 public:
  // Appends to `path`; "-" is standard error. Returns kInvalidArgument when it cannot be opened.
  static Result<std::unique_ptr<RequestLog>> Open(const std::string& path);

  // Never waits for a reader. Lines that cannot be written are dropped and counted; serving
  // continues.
  void Write(const s3::Exchange& exchange, WallTime finished);

 private:
  explicit RequestLog(std::unique_ptr<LogFile> file) : file_(std::move(file)) {}
  const std::unique_ptr<LogFile> file_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_
