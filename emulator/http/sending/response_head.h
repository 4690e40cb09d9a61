// The head of a response as text, and its framing.
#ifndef PENSTOCK_EMULATOR_HTTP_SENDING_RESPONSE_HEAD_H_
#define PENSTOCK_EMULATOR_HTTP_SENDING_RESPONSE_HEAD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/message/response.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// Properties of the request and the connection that a response depends on.
struct ResponseContext {
  bool head_request = false;  // the method is HEAD
  int minor_version = 1;      // of the request
  bool keep_alive = true;     // the connection can carry another request
  std::string_view date;      // for the Date header
  std::string_view request_id;
  std::string_view host_id;
};

// kClose: the body ends with the connection.
enum class ResponseFraming { kNone, kLength, kChunked, kClose };

struct ResponsePlan {
  ResponseFraming framing = ResponseFraming::kLength;
  std::uint64_t announced_bytes = 0;  // kLength: Content-Length
  bool send_body = true;
  // The announced length differs from the body's (a deliberate fault). The connection must close
  // after the response.
  bool length_is_wrong = false;
};

// Chooses the framing header and whether to send a body: no body for 1xx, 204 and 304, headers only
// for HEAD, chunked only for HTTP/1.1. With kClose, the connection must close after the response.
ResponsePlan PlanResponse(const message::Response& response, const ResponseContext& context);

// Appends the status line, the headers and the empty line. The handler's own framing and Connection
// headers are dropped; the server sets them. x-amz-id-2, x-amz-request-id and Date come first and
// Server last, each only if the handler has not set it. Line breaks and NULs in names and values
// become spaces, so that no value can inject a header.
void AppendHead(const message::Response& response, const ResponsePlan& plan,
                const ResponseContext& context, std::string& out);

std::string_view StandardReason(int status);  // "Unknown" for a status without one

// The RFC 9110 date of a time, formatted once per second.
class DateCache {
 public:
  std::string_view At(WallTime now);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SENDING_RESPONSE_HEAD_H_
