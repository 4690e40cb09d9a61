// Checksums of bodies: the CRC64NVME sent with an upload, and the verification of a downloaded
// object.
#ifndef PENSTOCK_CLIENT_S3_VERBS_BODY_CHECKSUM_H_
#define PENSTOCK_CLIENT_S3_VERBS_BODY_CHECKSUM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc/named_crc.h"
#include "client/http/transport.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

inline constexpr const char* kCrc64NvmeHeader = "x-amz-checksum-crc64nvme";

// Base64 of the big-endian CRC-64/NVME of `bytes`.
std::string Crc64NvmeText(ByteView bytes);

// Same for all of `source`. Returns the checksum that the source knows, or computes it in one pass
// and rewinds the source. Returns kInvalidArgument if the source yields more or fewer bytes than
// its size(), because the checksum would not match the bytes sent.
Result<std::string> Crc64NvmeText(BodySource& source);
// Computes another CRC of all of `source`, also in one pass.
Result<std::string> ChecksumText(Crc crc, BodySource& source);

// Returns the upper-case name, as in x-amz-checksum-algorithm.
std::string AlgorithmName(std::string_view algorithm);

// Computes the checksum "crc64nvme", "crc32c", "crc32", "sha256", "sha1" or "md5" of all of
// `source`, as base64. Errors as above.
Result<std::string> ComputeChecksum(const std::string& algorithm, BodySource& source);

// Returns kInvalidArgument with the name unless `algorithm` is empty, "none", or a name that
// requests may contain.
Result<void> CheckAlgorithm(const std::string& algorithm);

// The checksum that the caller chose for a body; PutObjectRequest describes the members.
struct ChosenChecksum {
  const std::string& algorithm;
  const std::string& value;
  BodySource* body;  // Null: the request is presigned, and its body is not known.
};
// Appends the checksum of a body. `by_default`: append a CRC64NVME if none was chosen.
Result<void> AppendBodyChecksum(const ChosenChecksum& chosen, bool by_default,
                                std::vector<http::Header>& headers);

// Appends the digest that S3 requires for a document: a CRC64NVME, or Content-MD5 if uploads carry
// no checksums. Directory buckets do not support MD5.
void AppendDocumentChecksum(const BuildContext& context, WireRequest& wire);

// Compares the checksum in the headers `sent` with the one that S3 computed and returned. Returns
// kDataLoss if they differ. Appends (x-amz-write-offset-bytes) are not checked, because S3 returns
// the checksum of the whole object for them.
Result<void> CheckConfirmedChecksum(const std::vector<http::Header>& sent,
                                    const http::ResponseHead& head);

// Computes the checksum of one object and compares it at the end. Copyable value.
class ChecksumVerifier {
 public:
  // Picks crc64nvme, crc32c or crc32, in this order, from the object's checksums. Returns nullopt
  // if it has none of them.
  static std::optional<ChecksumVerifier> For(const ObjectMetadata& metadata);

  void Update(ByteView bytes);
  // Returns kDataLoss with both values if they differ.
  Result<void> Finish() const;

 private:
  explicit ChecksumVerifier(ExpectedCrc expected) : expected_(std::move(expected)) {}

  ExpectedCrc expected_;
  std::uint64_t value_ = 0;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_BODY_CHECKSUM_H_
