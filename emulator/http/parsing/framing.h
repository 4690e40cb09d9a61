// Body framing and persistence of a request, from its headers (RFC 9112 sections 6 and 9.3). Pure.
#ifndef PENSTOCK_EMULATOR_HTTP_PARSING_FRAMING_H_
#define PENSTOCK_EMULATOR_HTTP_PARSING_FRAMING_H_

#include <cstdint>

#include "emulator/message/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

enum class BodyFraming { kUndeclared, kLength, kChunked };

struct Framing {
  // kUndeclared: neither Content-Length nor Transfer-Encoding; no body follows.
  BodyFraming body = BodyFraming::kUndeclared;
  std::uint64_t length = 0;  // kLength only
  bool keep_alive = true;
  bool expect_continue = false;  // only if a body is expected
};

// Rejects every ambiguous request; the connection must then close, because its framing cannot be
// trusted. BadRequest: Content-Length is not digits, exceeds 2^63-1 or was given twice with
// different values; both Content-Length and Transfer-Encoding; Transfer-Encoding in HTTP/1.0; no or
// several Host headers (HTTP/1.1). NotImplemented: a transfer coding other than chunked.
// Expectations other than 100-continue have no effect.
Result<Framing> ReadFraming(const message::RequestHead& head);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_PARSING_FRAMING_H_
