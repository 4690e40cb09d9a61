#include "emulator/auth/signature/refusal.h"

#include <utility>

#include "base/dates.h"

namespace penstock::emulator::auth {
namespace {

// Returns "41 57 53", the format in which S3 shows the bytes of a string to sign.
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
  return s3::MakeError("AccessDenied", {}, std::move(message));
}

std::string FormatSeconds(WallTime time) {
  constexpr std::size_t kSecondsEnd = 19;  // "2013-05-24T00:00:00"
  return FormatIso8601(time).substr(0, kSecondsEnd) + "Z";
}

Error RequestTimeTooSkewed(std::string_view date_as_sent, WallTime now) {
  return s3::MakeError("RequestTimeTooSkewed",
                       {{"RequestTime", std::string(date_as_sent)},
                        {"ServerTime", FormatSeconds(now)},
                        {"MaxAllowedSkewMilliseconds",
                         std::to_string(std::chrono::milliseconds(kAllowedSkew).count())}});
}

Error VersionTwoRefused() {
  return InvalidRequest(
      "The authorization mechanism you have provided is not supported. Please use "
      "AWS4-HMAC-SHA256.");
}

Error BodyTerminated() {
  return s3::MakeError("IncompleteBody", {}, "The request body terminated unexpectedly");
}

Error BodyLengthMismatch(std::uint64_t expected, std::uint64_t provided) {
  return s3::MakeError("IncompleteBody", {{"NumberBytesExpected", std::to_string(expected)},
                                          {"NumberBytesProvided", std::to_string(provided)}});
}

Error MalformedTrailer() { return s3::MakeError("MalformedTrailerError"); }

Error SignatureDoesNotMatch(const SignatureEvidence& evidence) {
  Error error = s3::MakeError("SignatureDoesNotMatch",
                              {{"AWSAccessKeyId", std::string(evidence.access_key_id)}});
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
