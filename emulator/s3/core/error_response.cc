// RespondWithError: S3's error document (Amazon S3 API Reference, "Error responses").
#include "base/utf8.h"
#include "base/xml/xml.h"
#include "emulator/s3/core/errors.h"
#include "emulator/s3/core/router.h"

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

// Error details may quote headers or form fields that are not UTF-8, but the document must be.
void WriteQuoted(XmlWriter& xml, std::string_view name, std::string_view text) {
  if (IsValidUtf8(text)) {
    xml.Element(name, text);
  } else {
    xml.Element(name, ReplaceIllFormedUtf8(text));
  }
}

std::string ErrorDocument(const Exchange& exchange, std::string_view code, std::string_view message,
                          const Error& error) {
  XmlWriter xml;
  xml.Open("Error");
  xml.Element("Code", code);
  WriteQuoted(xml, "Message", message);
  for (const auto& [name, value] : error.details) WriteQuoted(xml, name, value);
  xml.Element("RequestId", exchange.request_id);
  xml.Element("HostId", exchange.host_id);
  xml.Close("Error");
  return xml.Take();
}

}  // namespace

std::string_view MessageForClient(const Error& error, std::string_view code) {
  const ErrorInfo* info = FindErrorInfo(code);
  if (IsServerFailure(error, info))
    return error.kind == ErrorKind::kResourceExhausted ? kStorageFullMessage : info->message;
  if (!error.message.empty()) return error.message;
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
      response.body = ErrorDocument(exchange, code, MessageForClient(error, code), error);
    }
  }
  exchange.response = std::move(response);
}

}  // namespace penstock::emulator::s3
