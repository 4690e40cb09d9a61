// Request bodies: object bytes into the store with their digests, and small documents into memory.
//
// Nothing is published by these functions: an error leaves no trace.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_BODY_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_BODY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// one PUT, one part, one copy source (spec §0 "Limits")
inline constexpr std::uint64_t kMaxBodyBytes = 5ull << 30;

// how BadDigest prints ExpectedDigest: PutObject hex, UploadPart base64
enum class Md5Style { kHex, kBase64 };

struct ReceiveOptions {
  ChecksumClaim claim;                          // verified
  std::vector<ChecksumAlgorithm> also_compute;  // besides the claimed one
  Md5Style expected_digest = Md5Style::kHex;
  bool md5 = true;  // false: the MD5 is not needed, and taken only to check a Content-MD5
};

struct ReceivedBody {
  store::Content content;
  std::uint64_t size = 0;
  std::string md5;      // raw, 16 bytes; empty when it was not needed
  std::string claimed;  // base64 of the claimed algorithm; empty when nothing was claimed
  std::vector<std::string> computed;  // base64, as also_compute
};

// Streams the body into a new blob, verifying length, Content-MD5 and checksum claims.
Result<ReceivedBody> ReceiveBody(Call& call, ReceiveOptions options);

struct DocumentOptions {
  std::uint64_t limit_bytes = 2u << 20;
  // Content-MD5 or a checksum must come with it (appendix A, column R)
  bool require_checksum = false;
  // false: x-amz-checksum-* speaks of an object (CompleteMultipartUpload)
  bool checksum_of_body = true;
};
// The whole body as text, with Content-MD5 and checksum claims verified. MaxMessageLengthExceeded
// over the limit.
Result<std::string> ReadDocument(Call& call, DocumentOptions options);

struct ContentDigests {
  std::string md5;       // raw; empty when it was not asked for
  std::string checksum;  // base64
};
struct DigestOptions {
  ChecksumAlgorithm algorithm = ChecksumAlgorithm::kCrc64Nvme;
  bool md5 = true;
};
// Reads the range once: what a copy needs when its source's digests do not fit. ServiceUnavailable
// once the request is cancelled.
Result<ContentDigests> DigestContent(const Exchange& exchange, const store::Content& content,
                                     ByteRange range, DigestOptions options);
// store::CheckContentAnew. ServiceUnavailable once the request is cancelled.
Result<void> CheckCopySource(const Exchange& exchange, const store::Content& content,
                             ByteRange range);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_BODY_H_
