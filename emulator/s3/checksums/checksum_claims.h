// The checksum that a request claims for its content: headers, trailers and verification.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUM_CLAIMS_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUM_CLAIMS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct ChecksumClaim {
  const ChecksumInfo* info = nullptr;  // Null: no claim.
  std::string value;                   // Base64. Empty: the value is in a trailer.
  bool in_trailer() const { return info != nullptr && value.empty(); }
};

// Reads x-amz-checksum-*, x-amz-trailer and x-amz-sdk-checksum-algorithm. Returns S3's errors.
Result<ChecksumClaim> ReadChecksumClaim(const Call& call);
// Reads an x-amz-checksum-* header for a whole object (CompleteMultipartUpload). The value may end
// in "-N".
Result<ChecksumClaim> ReadWholeObjectClaim(const Call& call);
// Sets the claim's value from the trailers, after the end of the body.
Result<void> TakeTrailer(ChecksumClaim& claim,
                         const std::vector<std::pair<std::string, std::string>>& trailers);
// Returns BadDigest if `computed` differs from the claim.
Result<void> VerifyChecksum(const ChecksumClaim& claim, std::string_view computed);

// Returns the InvalidRequest that lists the values of x-amz-checksum-algorithm.
Error UnsupportedChecksumAlgorithm();

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUM_CLAIMS_H_
