// The values of x-amz-content-sha256, and the body reader that verifies a payload hash.
#ifndef PENSTOCK_EMULATOR_AUTH_BODY_PAYLOAD_H_
#define PENSTOCK_EMULATOR_AUTH_BODY_PAYLOAD_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

enum class PayloadKind {
  kHash,                      // 64 hex digits
  kUnsigned,                  // UNSIGNED-PAYLOAD
  kStreamingSigned,           // STREAMING-AWS4-HMAC-SHA256-PAYLOAD
  kStreamingSignedTrailer,    // ...-TRAILER
  kStreamingUnsignedTrailer,  // STREAMING-UNSIGNED-PAYLOAD-TRAILER
};

// Returns InvalidArgument for a value that S3 does not define, and NotImplemented for the ECDSA
// ones.
Result<PayloadKind> ClassifyPayload(std::string_view claim);

inline bool IsStreaming(PayloadKind kind) {
  return kind != PayloadKind::kHash && kind != PayloadKind::kUnsigned;
}

// Passes the body on and computes its digest. The end of the body is returned only if the digest
// matches the claim.
class HashedBody final : public s3::BodyWrapper {
 public:
  // `claim`: 64 hex digits. `inner` must outlive this object.
  HashedBody(s3::BodyReader& inner, std::string_view claim);

  // Returns XAmzContentSHA256Mismatch instead of the end if the digest differs.
  Result<std::size_t> Read(MutableByteView buffer) override;

 private:
  std::string claim_;
  Digester digester_;
  bool verified_ = false;
  std::optional<Error> error_;
};

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_BODY_PAYLOAD_H_
