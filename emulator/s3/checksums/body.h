// Reads request bodies: object bytes into the store, with their digests, and small documents into
// memory.
//
// These functions publish nothing: an error leaves no trace in the store.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_BODY_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_BODY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/s3/checksums/checksum_claims.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Limit for a PUT, a part and a copy source: 5 GiB.
inline constexpr std::uint64_t kMaxBodyBytes = 5ull << 30;

// Format of ExpectedDigest in BadDigest: PutObject uses hex, UploadPart base64.
enum class Md5Style { kHex, kBase64 };

struct ReceiveOptions {
  ChecksumClaim claim;                          // Verified.
  std::vector<ChecksumAlgorithm> also_compute;  // In addition to the claimed algorithm.
  Md5Style expected_digest = Md5Style::kHex;
  bool md5 = true;  // False: compute the MD5 only to verify a Content-MD5.
};

struct ReceivedBody {
  store::Content content;
  std::uint64_t size = 0;
  std::string md5;                    // Raw, 16 bytes. Empty if it was not computed.
  std::string claimed;                // Base64, of the claimed algorithm. Empty without a claim.
  std::vector<std::string> computed;  // Base64, in the order of also_compute.
};

// Streams the body into a new blob. Verifies length, Content-MD5 and checksum claim.
Result<ReceivedBody> ReceiveBody(Call& call, ReceiveOptions options);

inline constexpr std::uint64_t kDefaultDocumentBytes = 2u << 20;
struct DocumentOptions {
  std::uint64_t limit_bytes = kDefaultDocumentBytes;
  // Require Content-MD5 or a checksum.
  bool require_checksum = false;
  // False: x-amz-checksum-* describes an object, not the body (CompleteMultipartUpload).
  bool checksum_of_body = true;
};
// Returns the whole body as text. Verifies Content-MD5 and checksum claim. Returns
// MaxMessageLengthExceeded if the body exceeds the limit.
Result<std::string> ReadDocument(Call& call, DocumentOptions options);

struct ContentDigests {
  std::string md5;       // Raw. Empty if it was not requested.
  std::string checksum;  // Base64.
};
struct DigestOptions {
  ChecksumAlgorithm algorithm = ChecksumAlgorithm::kCrc64Nvme;
  bool md5 = true;
};
// Reads the range once and digests it. For copies that cannot reuse the digests of their source.
// ServiceUnavailable once the request is cancelled.
Result<ContentDigests> DigestContent(const Exchange& exchange, const store::Content& content,
                                     ByteRange range, DigestOptions options);
// store::CheckContentAnew. ServiceUnavailable once the request is cancelled.
Result<void> CheckCopySource(const Exchange& exchange, const store::Content& content,
                             ByteRange range);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_BODY_H_
