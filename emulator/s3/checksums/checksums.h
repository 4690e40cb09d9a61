// The checksums of objects and parts: what clients claim, what the bytes give, how parts join
// (spec/protocol.md §2.12).
//
// Values are base64 of the big-endian digest, as on the wire.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "emulator/s3/checksums/xxhash_digester.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

enum class ChecksumAlgorithm {
  kCrc32,
  kCrc32c,
  kCrc64Nvme,
  kSha1,
  kSha256,
  kSha512,
  kMd5,
  kXxhash64,
  kXxhash3,
  kXxhash128
};

struct ChecksumInfo {
  ChecksumAlgorithm algorithm;
  std::string_view name;     // "CRC32C"
  std::string_view lower;    // "crc32c"
  std::string_view header;   // "x-amz-checksum-crc32c"
  std::string_view element;  // "ChecksumCRC32C"
  std::size_t digest_bytes;
  bool full_object;  // may be FULL_OBJECT in a multipart upload
  bool composite;    // may be COMPOSITE
};

const ChecksumInfo& InfoOf(ChecksumAlgorithm algorithm);
// By upper-case name ("CRC32C"); nullptr when unknown.
const ChecksumInfo* FindChecksum(std::string_view name);
const ChecksumInfo* FindChecksumHeader(std::string_view header_name);
// By the name of its XML element ("ChecksumCRC32C").
const ChecksumInfo* FindChecksumElement(std::string_view element);

inline constexpr std::string_view kFullObject = "FULL_OBJECT";
inline constexpr std::string_view kComposite = "COMPOSITE";

// Digests bytes as they pass.
class ChecksumDigester {
 public:
  explicit ChecksumDigester(ChecksumAlgorithm algorithm);
  void Update(ByteView bytes);
  std::string Finish();  // base64

 private:
  ChecksumAlgorithm algorithm_;
  std::uint64_t crc_ = 0;
  std::optional<Digester> digester_;
  std::optional<XxhashDigester> xxhash_;
};

// What the request says about its body's checksum.
struct ChecksumClaim {
  const ChecksumInfo* info = nullptr;  // null: nothing claimed
  std::string value;                   // base64; empty: it comes as a trailer
  bool in_trailer() const { return info != nullptr && value.empty(); }
};

// From x-amz-checksum-*, x-amz-trailer and x-amz-sdk-checksum-algorithm, with S3's refusals.
Result<ChecksumClaim> ReadChecksumClaim(const Call& call);
// One x-amz-checksum-* header about a whole object (CompleteMultipartUpload): "-N" may follow the
// value.
Result<ChecksumClaim> ReadWholeObjectClaim(const Call& call);
// Takes a claim's value out of the trailers once the body ended.
Result<void> TakeTrailer(ChecksumClaim& claim,
                         const std::vector<std::pair<std::string, std::string>>& trailers);
// BadDigest when `computed` is not what was claimed.
Result<void> VerifyChecksum(const ChecksumClaim& claim, std::string_view computed);

// InvalidRequest listing the algorithms x-amz-checksum-algorithm may name.
Error UnsupportedChecksumAlgorithm();

// One part's value and size, in part order.
struct PartChecksum {
  std::string value;  // base64
  std::uint64_t size_bytes = 0;
};
// base64(alg(concatenated raw digests)) + "-N".
std::string CompositeChecksum(ChecksumAlgorithm algorithm, const std::vector<PartChecksum>& parts);
// The CRC of the whole content from those of its parts. Only for CRCs.
std::string FullObjectChecksum(ChecksumAlgorithm algorithm, const std::vector<PartChecksum>& parts);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUMS_H_
