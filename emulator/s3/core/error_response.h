// S3's error document.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ERROR_RESPONSE_H_
#define PENSTOCK_EMULATOR_S3_CORE_ERROR_RESPONSE_H_

#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/error.h"

namespace penstock::emulator::s3 {

// Replaces the response with S3's error response for `error`: status, headers and XML document.
// HEAD has no document.
void RespondWithError(Exchange& exchange, const Error& error);

// Returns the message that the client receives for an error sent as `code`. The server's own
// failures, which have no S3 code, may name its files: clients receive a general text instead.
std::string_view MessageForClient(const Error& error, std::string_view code);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ERROR_RESPONSE_H_
