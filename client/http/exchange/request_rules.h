// Validation of requests.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_REQUEST_RULES_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_REQUEST_RULES_H_

#include <cstdint>

#include "client/http/transport.h"

namespace penstock::http {

// Returns kInvalidArgument with the reason if the request cannot be sent. Reasons: a target that
// does not start with '/' or contains a space, control or non-ASCII byte or '#'; a header with a
// line break; no Host; an own Content-Length. The message never contains the target.
Result<void> CheckRequest(const Request& request);

// Returns whether the request has a Content-Length. PUT and POST always have one, even 0, because
// S3 responds with 411 otherwise.
bool Uploads(const Request& request, const RequestBody* body);
std::uint64_t UploadSize(const RequestBody* body);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_REQUEST_RULES_H_
