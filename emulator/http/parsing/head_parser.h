// Parses the head of an HTTP/1.x request into views. Pure: no I/O, no copy.
//
// Stricter than RFC 9112 to prevent request smuggling: only CRLF ends a line, no obs-fold, no white
// space before a colon. framing.h interprets the headers that define the body.
#ifndef PENSTOCK_EMULATOR_HTTP_PARSING_HEAD_PARSER_H_
#define PENSTOCK_EMULATOR_HTTP_PARSING_HEAD_PARSER_H_

#include <cstddef>
#include <string_view>

#include "emulator/message/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

struct HeadLimits {
  std::size_t max_head_bytes = 64 << 10;    // request line, headers and the empty line
  std::size_t max_target_bytes = 16 << 10;  // the request target
  std::size_t max_headers = 256;
};

// Returns the size of the head at the front of `input`, with its empty line; 0 while it is
// incomplete. `scanned` stores how far earlier calls on a shorter prefix searched; pass 0 for a new
// head. Bare LFs end a head too, so that ParseHead can reject it at once instead of after a
// timeout.
std::size_t FindHeadEnd(std::string_view input, std::size_t& scanned);

// Parses one complete head, as delimited by FindHeadEnd. Overwrites `head`; its views point into
// `bytes`. An absolute-form target ("http://host/key") is reduced to path and query, and its
// authority replaces the value of Host. Errors: BadRequest (400), URITooLong (414),
// HTTPVersionNotSupported (505), RequestHeaderSectionTooLarge for too many headers or bytes.
Result<void> ParseHead(std::string_view bytes, const HeadLimits& limits,
                       message::RequestHead& head);

// Whether `text` is an RFC 9110 token: a method or a header name.
bool IsToken(std::string_view text);
// Whether `text` is allowed as a header value: no control characters except horizontal tab.
bool IsFieldValue(std::string_view text);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_PARSING_HEAD_PARSER_H_
