#include "penstock/base/error.h"

#include "base/dates.h"
#include "base/message_filter.h"
#include "penstock/base/check.h"

namespace penstock {

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument: return "invalid_argument";
    case ErrorKind::kNotFound: return "not_found";
    case ErrorKind::kAccessDenied: return "access_denied";
    case ErrorKind::kUnauthenticated: return "unauthenticated";
    case ErrorKind::kAlreadyExists: return "already_exists";
    case ErrorKind::kPreconditionFailed: return "precondition_failed";
    case ErrorKind::kNotModified: return "not_modified";
    case ErrorKind::kConflict: return "conflict";
    case ErrorKind::kWrongRegion: return "wrong_region";
    case ErrorKind::kThrottled: return "throttled";
    case ErrorKind::kUnavailable: return "unavailable";
    case ErrorKind::kTimeout: return "timeout";
    case ErrorKind::kCancelled: return "cancelled";
    case ErrorKind::kDataLoss: return "data_loss";
    case ErrorKind::kResourceExhausted: return "resource_exhausted";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kInternal: return "internal";
  }
  CheckFailed("ErrorKind in range", __FILE__, __LINE__);
}

Error Error::Make(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = internal::ApplyMessageFilter(std::move(message));
  return error;
}

Error& Error::At(std::string_view operation_name, std::string_view bucket_name,
                 std::string_view key_name) & {
  if (operation.empty()) operation = operation_name;
  if (bucket.empty()) bucket = bucket_name;
  if (key.empty()) key = key_name;
  return *this;
}

Error&& Error::At(std::string_view operation_name, std::string_view bucket_name,
                  std::string_view key_name) && {
  At(operation_name, bucket_name, key_name);
  return std::move(*this);
}

Error&& Error::About(std::string_view setting_name) && {
  setting = setting_name;
  return std::move(*this);
}

namespace {

// Escapes control characters: names and messages may contain any bytes, and a log line is one line.
std::string OneLine(const std::string& text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f) {
      line += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      line.append("\\").append(1, c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    } else {
      line.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
  }
  return line;
}

}  // namespace

std::string Error::ToString() const {
  std::string text = operation;
  if (!bucket.empty())
    text.append(text.empty() ? "" : " ").append("s3://").append(bucket).append("/").append(key);
  if (!text.empty()) text += ": ";
  text += code.empty() ? std::string(ErrorKindName(kind)) : code;
  if (http_status != 0) text.append(" (").append(std::to_string(http_status)).append(")");
  if (!message.empty()) text.append(": ").append(message);
  if (message.find(setting) == std::string::npos) text.append(" (").append(setting).append(")");
  std::string facts;
  if (!request_id.empty()) facts.append("request id ").append(request_id);
  if (attempts > 0) {
    facts.append(facts.empty() ? "" : ", ")
        .append(std::to_string(attempts))
        .append(attempts == 1 ? " attempt" : " attempts");
  }
  if (!facts.empty()) text.append(" [").append(facts).append("]");
  return OneLine(text);
}

std::string FailedAttempt::ToString() const {
  std::string text = FormatIso8601(std::chrono::time_point_cast<WallTime::duration>(at));
  text.append(" ").append(address.empty() ? "no connection" : address).append(" ");
  if (http_status != 0) text.append(std::to_string(http_status)).append(" ");
  if (code != std::to_string(http_status)) text.append(code).append(" ");
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  text.append("after ").append(std::to_string(milliseconds)).append(" ms");
  if (!request_id.empty()) text.append(" [request id ").append(request_id).append("]");
  return OneLine(text);
}

}  // namespace penstock
