// The response: its head as text, and its body from where the bytes lie onto the wire.
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
#include "emulator/s3/core/exchange.h"
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
  // The announced length is not the body's (a lie told on purpose): the connection must close
  // behind it.
  bool length_lies = false;
};

// Which framing header leaves and whether a body does: nothing for 1xx, 204 and 304; headers only
// for HEAD; chunked only for HTTP/1.1.
ResponsePlan PlanResponse(const s3::Response& response, const ResponseContext& context);

// Appends status line, headers and the empty line. Framing and Connection headers of the handler
// are left out: they are the wire's. x-amz-id-2, x-amz-request-id and Date lead, Server follows the
// handler's headers, each where the handler has none of its own. Line breaks and NULs in names and
// values become spaces: no value can forge a header.
void AppendHead(const s3::Response& response, const ResponsePlan& plan,
                const ResponseContext& context, std::string& out);

std::string_view StandardReason(int status);  // "Unknown" for a status without one

struct SendResult {
  bool ok = false;               // everything left
  bool blocked = false;          // the socket is full: what is left is with the writer
  bool keep_alive = false;       // what the head promised
  std::uint64_t body_bytes = 0;  // of the body, without chunk framing; a lower bound when not ok
  // not ok because stored bytes do not match their checksum: which ones, for the log
  std::string damage;
};

// Told that what is written next may be the answer's end: whoever has the whole answer has it later
// than this. Again where the end did not leave at once. `body_bytes`: of the whole answer. Empty:
// nobody wants to know.
using BeforeEnd = std::function<void(std::uint64_t body_bytes)>;

// An answer of up to kWholeBytes leaves at once; of a longer one the last kEndBytes leave by
// themselves, so that its end is not told of while most of it is still here.
constexpr std::uint64_t kWholeBytes = 256 << 10;
constexpr std::uint64_t kEndBytes = 16 << 10;

// What of a response has not left yet: a text, and behind it the response's own text and its end,
// or the content's slices from one of them on.
struct UnsentResponse {
  std::string text;
  std::string_view end;        // behind the response's own text; of static storage
  std::size_t text_at = 0;     // before this it has left, of the texts in their order
  std::size_t body_begin = 0;  // of these, [body_begin, body_end) is body
  std::size_t body_end = 0;
  std::size_t slice = 0;
  std::uint64_t slice_at = 0;      // bytes of the slice that have left
  std::uint64_t behind_slice = 0;  // bytes of all slices behind it
  std::uint64_t body_bytes = 0;    // of the whole response
  bool chunked = false;
  bool ended = false;  // no slice is left: the text is the last
  SendResult so_far;

  ByteView text_left() const { return AsBytes(text).subspan(text_at); }
};

// Reused from response to response by one thread.
class ResponseWriter {
 public:
  // Head and small bodies in one system call; memory is sent from where it lies, files by sendfile.
  // Waits up to `patience` for each step of progress; without any it may come to be blocked.
  SendResult Send(Stream& stream, const s3::Response& response, ResponseContext context,
                  std::chrono::milliseconds patience, const BeforeEnd& before_end = {});
  // After a blocked Send or Continue: what is left, for a Continue of any writer with the same
  // response.
  UnsentResponse TakeUnsent() { return std::move(unsent_); }
  SendResult Continue(Stream& stream, const s3::Response& response, UnsentResponse unsent,
                      std::chrono::milliseconds patience, const BeforeEnd& before_end = {});

 private:
  SendResult SendText(Stream& stream, std::string_view body, std::chrono::milliseconds patience);
  SendResult ContinueText(Stream& stream, std::string_view body,
                          std::chrono::milliseconds patience);
  SendResult SendContent(Stream& stream, const store::Content& content,
                         std::chrono::milliseconds patience);
  // What is left of the text and of the slice behind it, up to the first block that is not verified
  // yet (Blob::Checked).
  IoResult SendSlice(Stream& stream, const store::ContentSlice& slice, More more,
                     std::chrono::milliseconds patience);
  // Goes to the first slice that has bytes, from unsent_.slice on, and adds its framing to the
  // text; or to the end.
  void BeginSlice(const store::Content& content);
  SendResult Outcome(IoStatus status);
  // Writes what the response ends with; at most kMostPieces.
  IoResult WriteEnd(Stream& stream, std::span<const ByteView> pieces,
                    std::chrono::milliseconds patience);
  IoResult WritePieces(Stream& stream, std::span<const ByteView> pieces, More more,
                       std::chrono::milliseconds patience);
  IoResult SendFileEnd(Stream& stream, int file, std::uint64_t begin, std::uint64_t size,
                       std::chrono::milliseconds patience);
  void ReportEnd() const;

  UnsentResponse unsent_;
  std::vector<std::byte> scratch_;
  const BeforeEnd* before_end_ = nullptr;  // of the call; never null in one
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

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_RESPONSE_WRITER_H_
