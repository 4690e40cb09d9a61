// S3's refusals as Error values. Status, kind and standard message of each code are those of the
// one table in emulator/s3/core/errors.cc; the texts here are those that S3 answers in the cases of
// authentication.
//
// Building the document from them is s3::RespondWithError's. Nothing here ever sees a secret key.
#ifndef PENSTOCK_EMULATOR_AUTH_REFUSAL_H_
#define PENSTOCK_EMULATOR_AUTH_REFUSAL_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/s3/core/errors.h"
#include "penstock/base/clock.h"
#include "penstock/base/error.h"

namespace penstock::emulator::auth {

Error AccessDenied(std::string message);  // 403
// 400 + ArgumentName, and ArgumentValue unless empty
Error InvalidArgument(std::string message, std::string argument_name,
                      std::string_view argument_value = {});
using s3::InvalidRequest;  // 400
using s3::NotImplemented;  // 501

// "2013-05-24T00:00:00Z": the times in refusals have no fraction, unlike those of S3's other
// documents.
std::string FormatSeconds(WallTime time);

// How far a signed request's date may be from the server's.
inline constexpr std::chrono::minutes kAllowedSkew{15};
Error RequestTimeTooSkewed(std::string_view date_as_sent, WallTime now);  // 403

// Signature version 2 where only version 4 is spoken.
Error VersionTwoRefused();  // 400

// aws-chunked framing is broken or ends early.
Error BodyTerminated();
// Fewer or more decoded bytes than x-amz-decoded-content-length says.
Error BodyLengthMismatch(std::uint64_t expected, std::uint64_t provided);
Error MalformedTrailer();

struct SignatureEvidence {
  std::string_view access_key_id;
  std::string_view string_to_sign;
  std::string_view signature_provided;
  std::string_view canonical_request;  // empty: a chunk, which has none
};
Error SignatureDoesNotMatch(const SignatureEvidence& evidence);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_REFUSAL_H_
