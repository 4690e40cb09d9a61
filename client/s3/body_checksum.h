// Checksums of bodies: the CRC64NVME sent with an upload, and the check of a whole object as it
// passes.
#ifndef PENSTOCK_CLIENT_S3_BODY_CHECKSUM_H_
#define PENSTOCK_CLIENT_S3_BODY_CHECKSUM_H_

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

// The same of all of `source`: what it knows already, else computed in one pass that leaves it
// rewound. kInvalidArgument when the source yields more or fewer bytes than its size(): the
// checksum would stand for other bytes than those sent.
Result<std::string> Crc64NvmeText(BodySource& source);
// Another CRC of all of `source`, computed in such a pass.
Result<std::string> ChecksumText(Crc crc, BodySource& source);

// Where S3 confirms an upload it names the checksum of the bytes that it received. kDataLoss when
// that is another CRC64NVME than the one in the headers `sent`. An append
// (x-amz-write-offset-bytes) is confirmed with the whole object's checksum.
Result<void> CheckConfirmedChecksum(const std::vector<http::Header>& sent,
                                    const http::ResponseHead& head);

// Follows the bytes of one object and compares at the end. Copyable value.
class ChecksumVerifier {
 public:
  // Picks crc64nvme, crc32c or crc32, in this order, from the object's checksums; nullopt when it
  // has none of them.
  static std::optional<ChecksumVerifier> For(const ObjectMetadata& metadata);

  void Update(ByteView bytes);
  // kDataLoss naming both values when they differ.
  Result<void> Finish() const;

 private:
  explicit ChecksumVerifier(ExpectedCrc expected) : expected_(std::move(expected)) {}

  ExpectedCrc expected_;
  std::uint64_t value_ = 0;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_BODY_CHECKSUM_H_
