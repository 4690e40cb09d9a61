// Writes a response: its head as text, and its body without copies where possible.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_RESPONSE_WRITER_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_RESPONSE_WRITER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/http/connection/stream.h"
#include "emulator/message/exchange.h"
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

enum class ResponseFraming { kNone, kLength, kChunked };

struct ResponsePlan {
  ResponseFraming framing = ResponseFraming::kLength;
  std::uint64_t announced_bytes = 0;  // kLength: Content-Length
  bool send_body = true;
  // The announced length differs from the body's (a deliberate fault). The connection must close
  // after the response.
  bool length_lies = false;
};

// Chooses the framing header and whether to send a body: no body for 1xx, 204 and 304, headers only
// for HEAD, chunked only for HTTP/1.1.
ResponsePlan PlanResponse(const message::Response& response, const ResponseContext& context);

// Appends the status line, the headers and the empty line. The handler's own framing and Connection
// headers are dropped; the server sets them. x-amz-id-2, x-amz-request-id and Date come first and
// Server last, each only if the handler has not set it. Line breaks and NULs in names and values
// become spaces, so that no value can inject a header.
void AppendHead(const message::Response& response, const ResponsePlan& plan,
                const ResponseContext& context, std::string& out);

std::string_view StandardReason(int status);  // "Unknown" for a status without one

struct SendResult {
  bool ok = false;               // everything was sent
  bool blocked = false;          // the socket is full; the writer holds the rest
  bool keep_alive = false;       // as announced in the head
  std::uint64_t body_bytes = 0;  // sent body bytes without chunk framing; a lower bound when not ok
  // Set when stored bytes do not match their checksum: which ones, for the log.
  std::string damage;
};

// Called before the write that may end the response, so that the client cannot have it earlier.
// Called again if that write did not send everything. `body_bytes`: size of the whole body. May be
// empty.
using BeforeEnd = std::function<void(std::uint64_t body_bytes)>;

// Responses up to kWholeBytes are sent in one write. Of longer ones the last kEndBytes are sent
// separately, so that BeforeEnd is not called while most of the response is still unsent.
constexpr std::uint64_t kWholeBytes = 256 << 10;
constexpr std::uint64_t kEndBytes = 16 << 10;

// The unsent rest of a response: a text, followed either by the response's own text and its end, or
// by the content's slices from `slice` on.
struct UnsentResponse {
  std::string text;
  std::string_view end;        // follows the response's own text; static storage
  std::size_t text_at = 0;     // bytes already sent, of the texts in their order
  std::size_t body_begin = 0;  // of the texts, [body_begin, body_end) is body
  std::size_t body_end = 0;
  std::size_t slice = 0;
  std::uint64_t slice_at = 0;      // bytes of the slice already sent
  std::uint64_t behind_slice = 0;  // bytes of all slices after it
  std::uint64_t body_bytes = 0;    // of the whole response
  bool chunked = false;
  bool ended = false;  // no slice is left: the text is the last part
  SendResult so_far;

  ByteView text_left() const { return AsBytes(text).subspan(text_at); }
};

// Used by one thread for many responses.
class ResponseWriter {
 public:
  // Sends head and small bodies in one system call, larger memory without a copy, and files with
  // sendfile. Waits up to `timeout` for each step of progress. Zero: may return blocked.
  SendResult Send(Stream& stream, const message::Response& response, ResponseContext context,
                  std::chrono::milliseconds timeout, const BeforeEnd& before_end = {});
  // After a blocked Send or Continue: the rest, for Continue of any writer with the same response.
  UnsentResponse TakeUnsent() { return std::move(unsent_); }
  SendResult Continue(Stream& stream, const message::Response& response, UnsentResponse unsent,
                      std::chrono::milliseconds timeout, const BeforeEnd& before_end = {});

 private:
  SendResult SendText(Stream& stream, std::string_view body, std::chrono::milliseconds timeout);
  SendResult ContinueText(Stream& stream, std::string_view body, std::chrono::milliseconds timeout);
  SendResult SendContent(Stream& stream, const Content& content, std::chrono::milliseconds timeout);
  // Sends the rest of the text and of the slice after it, up to the first block that is not
  // verified yet (Blob::Checked).
  IoResult SendSlice(Stream& stream, const ContentSlice& slice, More more,
                     std::chrono::milliseconds timeout);
  // Goes to the first slice with bytes, from unsent_.slice on, and appends its framing to the text.
  // Appends the end if there is none.
  void BeginSlice(const Content& content);
  SendResult Outcome(IoStatus status);
  // Writes the last pieces of the response, at most kMaxEndPieces.
  IoResult WriteEnd(Stream& stream, std::span<const ByteView> pieces,
                    std::chrono::milliseconds timeout);
  IoResult WritePieces(Stream& stream, std::span<const ByteView> pieces, More more,
                       std::chrono::milliseconds timeout);
  IoResult SendFileEnd(Stream& stream, int file, std::uint64_t begin, std::uint64_t size,
                       std::chrono::milliseconds timeout);
  void ReportEnd() const;

  UnsentResponse unsent_;
  std::vector<std::byte> scratch_;
  const BeforeEnd* before_end_ = nullptr;  // argument of the current call; not null during a call
};

// The RFC 9110 date of a time, formatted once per second.
class DateCache {
 public:
  std::string_view At(WallTime now);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_RESPONSE_WRITER_H_
