// The readers between the wire's body and the router, as the admitted payload claim demands.
#ifndef PENSTOCK_EMULATOR_AUTH_BODY_BODY_CHAIN_H_
#define PENSTOCK_EMULATOR_AUTH_BODY_BODY_CHAIN_H_

#include <optional>

#include "emulator/auth/body/chunked_body.h"
#include "emulator/auth/body/payload.h"
#include "emulator/auth/verifier.h"

namespace penstock::emulator::auth {

class BodyChain {
 public:
  BodyChain() = default;
  BodyChain(const BodyChain&) = delete;
  BodyChain& operator=(const BodyChain&) = delete;

  // Errors that are known before the first byte: a streaming claim on another operation than
  // PutObject or UploadPart, no x-amz-decoded-content-length, an unsupported trailer, an empty body
  // under the hash of another one. exchange.body, which the wire owns, outlives the chain.
  Result<void> Build(const s3::Exchange& exchange, Admission admission);

  // The reader the router gets. Valid after a successful Build.
  s3::BodyReader* outer() { return outer_; }

 private:
  std::optional<HashedBody> hashed_;
  std::optional<ChunkedBody> chunked_;
  s3::BodyReader* outer_ = nullptr;
};

// Reads the body of an operation that takes none to its end, so that what was claimed about it is
// checked all the same. UnexpectedContent when it is longer than 1 MiB.
Result<void> DrainUnused(const s3::Exchange& exchange, s3::BodyReader& body);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_BODY_BODY_CHAIN_H_
