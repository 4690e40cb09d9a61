// The readers between the request body and the router, as the admitted payload claim requires.
#ifndef PENSTOCK_EMULATOR_AUTH_BODY_CHAIN_H_
#define PENSTOCK_EMULATOR_AUTH_BODY_CHAIN_H_

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

  // Returns errors that are known before the first byte: a streaming claim on an operation other
  // than PutObject and UploadPart, no x-amz-decoded-content-length, an unsupported trailer, an
  // empty body with a wrong hash. exchange.body must outlive the chain.
  Result<void> Build(const s3::Exchange& exchange, Admission admission);

  // The reader for the router. Valid after a successful Build.
  s3::BodyReader* outer() { return outer_; }

 private:
  std::optional<HashedBody> hashed_;
  std::optional<ChunkedBody> chunked_;
  s3::BodyReader* outer_ = nullptr;
};

// Reads a body that the operation does not use to its end, so that claims about it are still
// checked. Returns UnexpectedContent if it is longer than 1 MiB.
Result<void> DrainUnused(const s3::Exchange& exchange, s3::BodyReader& body);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_BODY_CHAIN_H_
