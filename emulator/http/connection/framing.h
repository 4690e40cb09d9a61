// What a request's headers say about its body and its connection (RFC 9112 §6, §9.3). Pure.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_FRAMING_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_FRAMING_H_

#include <cstdint>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

enum class BodyFraming { kUndeclared, kLength, kChunked };

struct Framing {
  // undeclared: neither Content-Length nor Transfer-Encoding; no bytes follow
  BodyFraming body = BodyFraming::kUndeclared;
  std::uint64_t length = 0;  // kLength only
  bool keep_alive = true;
  bool expect_continue = false;  // only where body bytes are to come
};

// Everything ambiguous is refused, and the connection must then be closed: its framing cannot be
// trusted. BadRequest: Content-Length not digits, beyond 2^63-1 or given twice with different
// values; both Content-Length and Transfer-Encoding; Transfer-Encoding in HTTP/1.0; no Host or
// several (HTTP/1.1). NotImplemented: a transfer coding other than chunked. ExpectationFailed: an
// expectation other than 100-continue.
Result<Framing> ReadFraming(const s3::RequestHead& head);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_FRAMING_H_
