#include "emulator/http/parsing/wire_error.h"

#include <utility>

#include "emulator/message/errors.h"

namespace penstock::emulator::http {
namespace {

using message::MakeError;

// For codes of HTTP, which S3 does not have.
Error Refusal(ErrorKind kind, int status, std::string_view code, std::string_view message) {
  Error error = Error::Make(kind, std::string(message));
  error.code = code;
  error.http_status = status;
  return error;
}

}  // namespace

Error BadRequest(std::string_view what) {
  return MakeError("BadRequest", {},
                   "An error occurred when parsing the HTTP request: " + std::string(what));
}

Error HeadTooLarge(std::size_t limit_bytes) {
  return MakeError("RequestHeaderSectionTooLarge",
                   {{"MaxSizeAllowed", std::to_string(limit_bytes)}});
}

Error TargetTooLong(std::size_t limit_bytes) {
  Error error = Refusal(ErrorKind::kInvalidArgument, 414, "URITooLong",
                        "The request target exceeds the maximum allowed size.");
  error.details.emplace_back("MaxSizeAllowed", std::to_string(limit_bytes));
  return error;
}

Error VersionNotSupported() {
  return Refusal(ErrorKind::kUnsupported, 505, "HTTPVersionNotSupported",
                 "The HTTP version is not supported. Use HTTP/1.1 or HTTP/1.0.");
}

Error HeaderNotImplemented(std::string_view header) {
  return MakeError("NotImplemented", {{"Header", std::string(header)}});
}

Error IncompleteBody(std::uint64_t expected, std::uint64_t provided) {
  return MakeError("IncompleteBody", {{"NumberBytesExpected", std::to_string(expected)},
                                      {"NumberBytesProvided", std::to_string(provided)}});
}

Error BrokenChunks(std::string_view what) {
  return MakeError(
      "IncompleteBody", {},
      "The request body is not well-formed chunked transfer coding: " + std::string(what));
}

Error RequestTimedOut() { return MakeError("RequestTimeout"); }

Error NoRoomForBody() { return MakeError("SlowDown"); }

Error NoRoomForResponse() {
  return MakeError("SlowDown", {},
                   "Please reduce your request rate. Too many responses wait for clients that do "
                   "not read them.");
}

Error InternalError() { return MakeError("InternalError"); }

void FillErrorResponse(const Error& error, std::string_view request_id, std::string_view host_id,
                       message::Response& response) {
  response = message::Response{};
  response.status = error.http_status;
  response.error_code = error.code;
  response.headers.emplace_back("Content-Type", "application/xml");
  response.body =
      message::ErrorDocument(error.code, error.message, error.details, request_id, host_id);
  response.chunked = true;
  response.close = true;
}

}  // namespace penstock::emulator::http
