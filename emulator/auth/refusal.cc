#include "emulator/auth/refusal.h"

#include <utility>

#include "base/dates.h"

namespace penstock::emulator::auth {
namespace {

Error Refuse(ErrorKind kind, int status, std::string code, std::string message) {
  Error error = Error::Make(kind, std::move(message));
  error.code = std::move(code);
  error.http_status = status;
  return error;
}

// "41 57 53": how S3 shows the bytes of a string to sign.
std::string SpacedHex(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size() * 3);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!out.empty()) out += ' ';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace

Error AccessDenied(std::string message) {
  return Refuse(ErrorKind::kAccessDenied, 403, "AccessDenied", std::move(message));
}

Error InvalidRequest(std::string message) {
  return Refuse(ErrorKind::kInvalidArgument, 400, "InvalidRequest", std::move(message));
}

Error InvalidArgument(std::string message, std::string argument_name, std::string_view argument_value) {
  Error error = Refuse(ErrorKind::kInvalidArgument, 400, "InvalidArgument", std::move(message));
  error.details.emplace_back("ArgumentName", std::move(argument_name));
  if (!argument_value.empty()) error.details.emplace_back("ArgumentValue", argument_value);
  return error;
}

Error NotImplemented(std::string message) {
  return Refuse(ErrorKind::kUnsupported, 501, "NotImplemented", std::move(message));
}

std::string FormatSeconds(WallTime time) {
  constexpr std::size_t kSecondsEnd = 19;  // "2013-05-24T00:00:00"
  return FormatIso8601(time).substr(0, kSecondsEnd) + "Z";
}

Error RequestTimeTooSkewed(std::string_view date_as_sent, WallTime now) {
  Error error = Refuse(ErrorKind::kAccessDenied, 403, "RequestTimeTooSkewed",
                       "The difference between the request time and the current time is too large.");
  error.details.emplace_back("RequestTime", date_as_sent);
  error.details.emplace_back("ServerTime", FormatSeconds(now));
  error.details.emplace_back("MaxAllowedSkewMilliseconds",
                             std::to_string(std::chrono::milliseconds(kAllowedSkew).count()));
  return error;
}

Error VersionTwoRefused() {
  return InvalidRequest("The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.");
}

Error BodyTerminated() {
  return Refuse(ErrorKind::kInvalidArgument, 400, "IncompleteBody", "The request body terminated unexpectedly");
}

Error BodyLengthMismatch(std::uint64_t expected, std::uint64_t provided) {
  Error error = Refuse(ErrorKind::kInvalidArgument, 400, "IncompleteBody",
                       "You did not provide the number of bytes specified by the Content-Length HTTP header");
  error.details.emplace_back("NumberBytesExpected", std::to_string(expected));
  error.details.emplace_back("NumberBytesProvided", std::to_string(provided));
  return error;
}

Error MalformedTrailer() {
  return Refuse(ErrorKind::kInvalidArgument, 400, "MalformedTrailerError",
                "The request contained trailing data that was not well-formed or did not conform to our published schema.");
}

Error SignatureDoesNotMatch(const SignatureEvidence& evidence) {
  Error error = Refuse(ErrorKind::kUnauthenticated, 403, "SignatureDoesNotMatch",
                       "The request signature we calculated does not match the signature you provided. Check your key "
                       "and signing method.");
  error.details.emplace_back("AWSAccessKeyId", evidence.access_key_id);
  error.details.emplace_back("StringToSign", evidence.string_to_sign);
  error.details.emplace_back("SignatureProvided", evidence.signature_provided);
  error.details.emplace_back("StringToSignBytes", SpacedHex(evidence.string_to_sign));
  if (!evidence.canonical_request.empty()) {
    error.details.emplace_back("CanonicalRequest", evidence.canonical_request);
    error.details.emplace_back("CanonicalRequestBytes", SpacedHex(evidence.canonical_request));
  }
  return error;
}

}  // namespace penstock::emulator::auth
