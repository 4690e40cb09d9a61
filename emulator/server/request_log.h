// One JSON line per request. It never contains a query string, credential, signature or token.
#ifndef PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_
#define PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_

#include <memory>
#include <string>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Formats the line of a finished exchange, including the line feed.
std::string LogLine(const s3::Exchange& exchange, WallTime finished);

// Thread safety: any thread; lines are written atomically.
class RequestLog {
 public:
  // Appends to `path`; "-" is standard error. Returns kInvalidArgument when it cannot be opened.
  static Result<std::unique_ptr<RequestLog>> Open(const std::string& path);
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  // Lines that cannot be written are dropped and counted; serving continues.
  void Write(const s3::Exchange& exchange, WallTime finished);

 private:
  explicit RequestLog(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_
