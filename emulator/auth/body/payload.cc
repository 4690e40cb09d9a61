#include "emulator/auth/body/payload.h"

#include "base/encoding.h"
#include "emulator/auth/signature/refusal.h"

namespace penstock::emulator::auth {

Result<PayloadKind> ClassifyPayload(std::string_view claim) {
  if (claim.size() == 64 && HexDecode(claim)) return PayloadKind::kHash;
  if (claim == "UNSIGNED-PAYLOAD") return PayloadKind::kUnsigned;
  if (claim == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") return PayloadKind::kStreamingSigned;
  if (claim == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
    return PayloadKind::kStreamingSignedTrailer;
  if (claim == "STREAMING-UNSIGNED-PAYLOAD-TRAILER") return PayloadKind::kStreamingUnsignedTrailer;
  if (claim.starts_with("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD")) {
    return NotImplemented(
        "Signature Version 4A chunk signatures are not implemented; use "
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD.");
  }
  return InvalidArgument(
      "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, "
      "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, "
      "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER "
      "or a valid sha256 value.",
      "x-amz-content-sha256", claim);
}

HashedBody::HashedBody(s3::BodyReader& inner, std::string_view claim)
    : BodyWrapper(inner), claim_(claim), digester_(DigestAlgorithm::kSha256) {}

Result<std::size_t> HashedBody::Read(MutableByteView buffer) {
  if (error_) return *error_;
  if (verified_) return std::size_t{0};
  PENSTOCK_ASSIGN(const std::size_t count, inner().Read(buffer));
  if (count > 0) {
    digester_.Update(buffer.first(count));
    return count;
  }
  const std::string computed = digester_.Finish();
  if (HexDecode(claim_) == computed) {
    verified_ = true;
    return std::size_t{0};
  }
  error_ = s3::MakeError("XAmzContentSHA256Mismatch",
                         {{"ClientComputedContentSHA256", claim_},
                          {"S3ComputedContentSHA256", HexEncode(AsBytes(computed))}});
  return *error_;
}

}  // namespace penstock::emulator::auth
