// Errors of the HTTP layer itself: the message is invalid before any S3 meaning. The table of S3's
// codes and the error document are in emulator/message/errors.h.
#ifndef PENSTOCK_EMULATOR_HTTP_PARSING_WIRE_ERROR_H_
#define PENSTOCK_EMULATOR_HTTP_PARSING_WIRE_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/message/exchange.h"
#include "penstock/base/error.h"

namespace penstock::emulator::http {

// BadRequest, 400. `what` is a sentence that names the broken rule. It never contains header
// values.
Error BadRequest(std::string_view what);
Error HeadTooLarge(std::size_t limit_bytes);          // RequestHeaderSectionTooLarge, 400
Error TargetTooLong(std::size_t limit_bytes);         // URITooLong, 414
Error VersionNotSupported();                          // HTTPVersionNotSupported, 505
Error HeaderNotImplemented(std::string_view header);  // NotImplemented, 501
Error IncompleteBody(std::uint64_t expected, std::uint64_t provided);  // 400
// IncompleteBody, 400: the chunk framing is invalid or incomplete.
Error BrokenChunks(std::string_view what);
Error RequestTimedOut();    // RequestTimeout, 400
Error NoRoomForBody();      // SlowDown, 503
Error NoRoomForResponse();  // SlowDown, 503
Error InternalError();      // 500

// Replaces `response` by the error document for `error`, and requests that the connection closes.
void FillErrorResponse(const Error& error, std::string_view request_id, std::string_view host_id,
                       message::Response& response);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_PARSING_WIRE_ERROR_H_
