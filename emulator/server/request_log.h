// One JSON line per request. Never a query string, a credential, a signature or a token.
#ifndef PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_
#define PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_

#include <memory>
#include <string>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// The line of a finished exchange, with its line feed.
std::string LogLine(const s3::Exchange& exchange, WallTime finished);

// Thread safety: safe from any thread; lines never mix.
class RequestLog {
 public:
  // `path` is appended to; "-" is standard error. kInvalidArgument when it cannot be opened.
  static Result<std::unique_ptr<RequestLog>> Open(const std::string& path);
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  // A line that cannot be written is lost: serving goes on.
  void Write(const s3::Exchange& exchange, WallTime finished);

 private:
  explicit RequestLog(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_REQUEST_LOG_H_
