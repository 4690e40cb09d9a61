// Errors and documents of STS (AWS STS API Reference, "Common error types", and the errors of each
// action; statuses from botocore's model).
#ifndef PENSTOCK_EMULATOR_IDENTITY_STS_STS_ERRORS_H_
#define PENSTOCK_EMULATOR_IDENTITY_STS_STS_ERRORS_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/error.h"

namespace penstock::emulator::identity {

inline constexpr std::string_view kStsNamespace =
    "xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"";

// Returns `text` with U+FFFD instead of bytes that are not UTF-8 and of characters that XML 1.0
// does not allow, which parsers of the SDKs refuse, also as references.
std::string Xml10Text(std::string_view text);

// An error of STS with the code's status.
Error StsError(std::string_view code, std::string message);
// The AccessDenied error of an action on a resource.
Error NotAuthorized(const s3::Identity& caller, std::string_view action, std::string_view resource);

// Replaces the response with the error's document in the form of STS.
void RespondWithStsError(s3::Exchange& exchange, const Error& error);

// Rewrites a response with an error document of S3, from authentication or a fault, in the form of
// STS, with the code and status of STS where they differ. Leaves other responses as they are.
void TranslateError(s3::Exchange& exchange);

// The request id as STS shows it: a UUID, derived from the id of the request.
std::string StsRequestId(const s3::Exchange& exchange);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_STS_STS_ERRORS_H_
