// Authentication errors of S3 as Error values. Status, kind and default message of each code come
// from the table in emulator/message/errors.cc. The texts here are those that S3 sends for
// authentication.
//
// s3::RespondWithError makes the document. This file never handles a secret key.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_REFUSAL_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_REFUSAL_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/s3/protocol/errors.h"
#include "penstock/base/clock.h"
#include "penstock/base/error.h"

namespace penstock::emulator::auth {

Error AccessDenied(std::string message);  // 403
using s3::InvalidArgument;                // 400
using s3::InvalidRequest;                 // 400
using s3::NotImplemented;                 // 501

// Formats "2013-05-24T00:00:00Z": times in authentication errors have no fraction, unlike those in
// S3's other documents.
std::string FormatSeconds(WallTime time);

// Largest allowed difference between the date of a signed request and the server's clock.
inline constexpr std::chrono::minutes kAllowedSkew{15};
Error RequestTimeTooSkewed(std::string_view date_as_sent, WallTime now);  // 403

// Signature Version 2 in a region that accepts only version 4.
Error VersionTwoRefused();  // 400

// The aws-chunked framing is malformed or incomplete.
Error BodyTerminated();
// The number of decoded bytes differs from x-amz-decoded-content-length.
Error BodyLengthMismatch(std::uint64_t expected, std::uint64_t provided);
Error MalformedTrailer();

struct SignatureEvidence {
  std::string_view access_key_id;
  std::string_view string_to_sign;
  std::string_view signature_provided;
  std::string_view canonical_request;  // empty for a chunk, which has none
};
Error SignatureDoesNotMatch(const SignatureEvidence& evidence);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_REFUSAL_H_
