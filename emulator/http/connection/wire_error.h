// Refusals of the wire itself: what is wrong with a message before, or instead of, any S3 meaning.
//
// Codes, statuses and texts: spec/protocol.md §2.5 and §8. Documents for S3's own refusals are
// emulator/s3's.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_WIRE_ERROR_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_WIRE_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/error.h"

namespace penstock::emulator::http {

// BadRequest, 400. `what` is a sentence that names the broken rule; never the header's value.
Error BadRequest(std::string_view what);
Error HeadTooLarge(std::size_t limit_bytes);          // RequestHeaderSectionTooLarge, 400
Error TargetTooLong(std::size_t limit_bytes);         // URITooLong, 414
Error VersionNotSupported();                          // HTTPVersionNotSupported, 505
Error HeaderNotImplemented(std::string_view header);  // NotImplemented, 501
Error ExpectationFailed();                            // ExpectationFailed, 417
Error IncompleteBody(std::uint64_t expected, std::uint64_t provided);  // 400
// IncompleteBody, 400: the chunk framing is wrong or ends early
Error BrokenChunks(std::string_view what);
Error RequestTimedOut();  // RequestTimeout, 400
Error NoRoomForBody();    // SlowDown, 503
Error NoRoomForAnswer();  // SlowDown, 503
Error InternalError();    // 500

// Replaces `response` by the error document for `error` and asks for the connection to be closed.
void FillErrorResponse(const Error& error, std::string_view request_id, std::string_view host_id,
                       s3::Response& response);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_WIRE_ERROR_H_
