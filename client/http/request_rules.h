// What every data plane asks of a request before it goes out.
#ifndef PENSTOCK_CLIENT_HTTP_REQUEST_RULES_H_
#define PENSTOCK_CLIENT_HTTP_REQUEST_RULES_H_

#include <cstdint>

#include "client/http/transport.h"

namespace penstock::http {

// kInvalidArgument naming what cannot be sent: a target that does not start with '/' or holds a
// blank, control or non-ASCII byte or '#'; a header with a line break; no Host; an own
// Content-Length. Never the target's text.
Result<void> CheckRequest(const Request& request);

// Whether the request announces a length: PUT and POST always do, be it 0, because S3 answers 411
// otherwise.
bool Uploads(const Request& request, const RequestBody* body);
std::uint64_t UploadSize(const RequestBody* body);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_REQUEST_RULES_H_
