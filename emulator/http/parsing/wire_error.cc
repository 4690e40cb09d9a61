#include "emulator/http/parsing/wire_error.h"

#include <utility>

#include "base/xml/xml.h"

namespace penstock::emulator::http {
namespace {

Error Refusal(ErrorKind kind, int status, std::string_view code, std::string_view message) {
  Error error = Error::Make(kind, std::string(message));
  error.code = code;
  error.http_status = status;
  return error;
}

}  // namespace

Error BadRequest(std::string_view what) {
  return Refusal(ErrorKind::kInvalidArgument, 400, "BadRequest",
                 "An error occurred when parsing the HTTP request: " + std::string(what));
}

Error HeadTooLarge(std::size_t limit_bytes) {
  Error error = Refusal(ErrorKind::kInvalidArgument, 400, "RequestHeaderSectionTooLarge",
                        "Your request header section exceeds the maximum allowed size.");
  error.details.emplace_back("MaxSizeAllowed", std::to_string(limit_bytes));
  return error;
}

Error TargetTooLong(std::size_t limit_bytes) {
  Error error = Refusal(ErrorKind::kInvalidArgument, 414, "URITooLong",
                        "The request target exceeds the maximum allowed size.");
  error.details.emplace_back("MaxSizeAllowed", std::to_string(limit_bytes));
  return error;
}

Error VersionNotSupported() {
  return Refusal(ErrorKind::kUnsupported, 505, "HTTPVersionNotSupported",
                 "This server speaks HTTP/1.0 and HTTP/1.1.");
}

Error HeaderNotImplemented(std::string_view header) {
  Error error = Refusal(ErrorKind::kUnsupported, 501, "NotImplemented",
                        "A header you provided implies functionality that is not implemented");
  error.details.emplace_back("Header", std::string(header));
  return error;
}

Error ExpectationFailed() {
  return Refusal(ErrorKind::kInvalidArgument, 417, "ExpectationFailed",
                 "The only expectation this server meets is 100-continue.");
}

Error IncompleteBody(std::uint64_t expected, std::uint64_t provided) {
  Error error = Refusal(
      ErrorKind::kInvalidArgument, 400, "IncompleteBody",
      "You did not provide the number of bytes specified by the Content-Length HTTP header");
  error.details.emplace_back("NumberBytesExpected", std::to_string(expected));
  error.details.emplace_back("NumberBytesProvided", std::to_string(provided));
  return error;
}

Error BrokenChunks(std::string_view what) {
  return Refusal(
      ErrorKind::kInvalidArgument, 400, "IncompleteBody",
      "The request body is not well-formed chunked transfer coding: " + std::string(what));
}

Error RequestTimedOut() {
  return Refusal(ErrorKind::kTimeout, 400, "RequestTimeout",
                 "Your socket connection to the server was not read from or written to within the "
                 "timeout period. "
                 "Idle connections will be closed.");
}

Error ServerStops() {
  return Refusal(ErrorKind::kUnavailable, 503, "ServiceUnavailable",
                 "Service is unable to handle request. The emulator stops.");
}

Error NoRoomForBody() {
  return Refusal(ErrorKind::kThrottled, 503, "SlowDown", "Please reduce your request rate.");
}

Error NoRoomForAnswer() {
  return Refusal(ErrorKind::kThrottled, 503, "SlowDown",
                 "Please reduce your request rate. Too many responses wait for clients that do not "
                 "read them.");
}

Error InternalError() {
  return Refusal(ErrorKind::kInternal, 500, "InternalError",
                 "We encountered an internal error. Please try again.");
}

void FillErrorResponse(const Error& error, std::string_view request_id, std::string_view host_id,
                       message::Response& response) {
  XmlWriter xml;
  xml.Open("Error");
  xml.Element("Code", error.code);
  xml.Element("Message", error.message);
  for (const auto& [name, value] : error.details) xml.Element(name, value);
  xml.Element("RequestId", request_id);
  xml.Element("HostId", host_id);
  xml.Close("Error");
  response = message::Response{};
  response.status = error.http_status;
  response.error_code = error.code;
  response.headers.emplace_back("Content-Type", "application/xml");
  response.body = xml.Take();
  response.chunked = true;
  response.close = true;
}

}  // namespace penstock::emulator::http
