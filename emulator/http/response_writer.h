// The response: its head as text, and its body from where the bytes lie onto the wire.
#ifndef PENSTOCK_EMULATOR_HTTP_RESPONSE_WRITER_H_
#define PENSTOCK_EMULATOR_HTTP_RESPONSE_WRITER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/api/exchange.h"
#include "emulator/http/stream.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// What the response depends on beside itself.
struct ResponseContext {
  bool head_request = false;  // the method is HEAD
  int minor_version = 1;      // of the request
  bool keep_alive = true;     // the connection can carry another request
  std::string_view date;      // for the Date header
  std::string_view request_id;
  std::string_view host_id;
};

enum class ResponseFraming { kNone, kLength, kChunked };

struct ResponsePlan {
  ResponseFraming framing = ResponseFraming::kLength;
  std::uint64_t announced_bytes = 0;  // kLength: Content-Length
  bool send_body = true;
  // The announced length is not the body's (a lie told on purpose): the connection must close behind it.
  bool length_lies = false;
};

std::uint64_t BodySize(const api::Response& response);

// Which framing header leaves and whether a body does: nothing for 1xx, 204 and 304; headers only for HEAD; chunked
// only for HTTP/1.1.
ResponsePlan PlanResponse(const api::Response& response, const ResponseContext& context);

// Appends status line, headers and the empty line. Framing and Connection headers of the handler are left out: they are
// the wire's. x-amz-id-2, x-amz-request-id and Date lead, Server follows the handler's headers, each where the handler
// has none of its own. Line breaks and NULs in names and values become spaces: no value can forge a header.
void AppendHead(const api::Response& response, const ResponsePlan& plan, const ResponseContext& context, std::string& out);

std::string_view StandardReason(int status);  // "Unknown" for a status without one

struct SendResult {
  bool ok = false;               // everything left
  bool keep_alive = false;       // what the head promised
  std::uint64_t body_bytes = 0;  // of the body, without chunk framing; a lower bound when not ok
};

// Reused from response to response by one thread.
class ResponseWriter {
 public:
  // Head and small bodies in one system call; memory is sent from where it lies, files by sendfile.
  SendResult Send(Stream& stream, const api::Response& response, ResponseContext context,
                  std::chrono::milliseconds patience);

 private:
  SendResult SendContent(Stream& stream, const store::Content& content, std::uint64_t size, bool chunked,
                         std::chrono::milliseconds patience);
  // head_ and the slice behind it.
  IoResult SendSlice(Stream& stream, const store::ContentSlice& slice, More more, std::chrono::milliseconds patience);

  std::string head_;
  std::vector<std::byte> scratch_;
};

// RFC 1123 date of `now`, formatted once per second.
class DateCache {
 public:
  std::string_view At(WallTime now);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_RESPONSE_WRITER_H_
