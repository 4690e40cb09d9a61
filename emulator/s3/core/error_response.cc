// RespondWithError: S3's error document (Amazon S3 API Reference, "Error responses").
#include "emulator/s3/core/error_response.h"

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kStorageFullMessage =
    "The emulator has run out of disk space, memory or open files. Free some and retry.";

// Maps errors without an S3 code (disk failures, bugs) to one. Only uploads can get
// InsufficientStorage. Reads and deletions that run out of resources are server failures.
std::string_view CodeOf(const Error& error, std::string_view method) {
  if (!error.code.empty()) return error.code;
  switch (error.kind) {
    case ErrorKind::kResourceExhausted:
      return method == "PUT" || method == "POST" ? "InsufficientStorage" : "InternalError";
    case ErrorKind::kThrottled: return "SlowDown";
    case ErrorKind::kUnavailable: return "ServiceUnavailable";
    case ErrorKind::kTimeout: return "RequestTimeout";
    case ErrorKind::kUnsupported: return "NotImplemented";
    case ErrorKind::kAccessDenied: return "AccessDenied";
    case ErrorKind::kPreconditionFailed: return "PreconditionFailed";
    case ErrorKind::kInvalidArgument: return "InvalidRequest";
    default: return "InternalError";
  }
}

bool IsServerFailure(const Error& error, const ErrorInfo* info) {
  return error.code.empty() && info != nullptr && info->status >= 500;
}

bool HasBody(const RequestHead& request) {
  if (request.Find("transfer-encoding")) return true;
  const auto length = request.Find("content-length");
  return length && *length != "0";
}

}  // namespace

std::string_view MessageForClient(const Error& error, std::string_view code) {
  const ErrorInfo* info = FindErrorInfo(code);
  if (IsServerFailure(error, info))
    return error.kind == ErrorKind::kResourceExhausted ? kStorageFullMessage : info->message;
  // MakeError fills in the code's text. An error with elements but without it has an empty Message.
  if (!error.message.empty() || !error.details.empty()) return error.message;
  return info ? info->message : std::string_view("Internal Error");
}

void RespondWithError(Exchange& exchange, const Error& error) {
  const std::string_view code = CodeOf(error, exchange.request.method);
  const ErrorInfo* info = FindErrorInfo(code);
  Response response;
  response.status = error.http_status != 0 ? error.http_status : info ? info->status : 500;
  response.error_code = code;
  if (IsServerFailure(error, info)) response.error_detail = error.message;
  if (code == "SlowDown") response.reason = "Slow Down";
  response.headers.reserve(6);
  response.Add("x-amz-request-id", exchange.request_id);
  response.Add("x-amz-id-2", exchange.host_id);
  if (!error.region.empty()) response.Add("x-amz-bucket-region", error.region);
  response.close = response.status == 503 || HasBody(exchange.request);
  if (response.status != 304) {
    response.Add("Content-Type", "application/xml");
    response.chunked = true;
    if (exchange.request.method != "HEAD") {
      response.body = message::ErrorDocument(code, MessageForClient(error, code), error.details,
                                             exchange.request_id, exchange.host_id);
    }
  }
  exchange.response = std::move(response);
}

}  // namespace penstock::emulator::s3
