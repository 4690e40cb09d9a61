// Checksums of bodies: the CRC64NVME sent with an upload, and the verification of a downloaded
// object.
#ifndef PENSTOCK_CLIENT_S3_VERBS_BODY_CHECKSUM_H_
#define PENSTOCK_CLIENT_S3_VERBS_BODY_CHECKSUM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/crc/named_crc.h"
#include "client/http/transport.h"
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

// Compares the CRC64NVME in the headers `sent` with the one that S3 computed and returned. Returns
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
