// Decodes and verifies the request body, as the admitted payload claim requires.
#ifndef PENSTOCK_EMULATOR_AUTH_BODY_CHAIN_H_
#define PENSTOCK_EMULATOR_AUTH_BODY_CHAIN_H_

#include "emulator/auth/verifier.h"

namespace penstock::emulator::auth {

// Wraps the body of the exchange with the readers that decode and verify it. Returns errors that
// are known before the first byte: a streaming claim on an operation other than PutObject and
// UploadPart, no x-amz-decoded-content-length, an unsupported trailer, an empty body with a wrong
// hash.
Result<void> WrapBody(s3::Exchange& exchange, Admission admission);

// Reads a body that the operation does not use to its end, so that claims about it are still
// checked. Returns UnexpectedContent if it is longer than 1 MiB.
Result<void> DrainUnused(const s3::Exchange& exchange);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_BODY_CHAIN_H_
