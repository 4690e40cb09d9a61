#include "client/s3/verbs/body_checksum.h"

#include <utility>

#include "base/crc/crc.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kStep = 1 << 20;

}  // namespace

std::string Crc64NvmeText(ByteView bytes) { return CrcText(Crc::kCrc64Nvme, Crc64Nvme(bytes)); }

Result<std::string> Crc64NvmeText(BodySource& source) {
  if (const std::optional<std::uint64_t> known = source.crc64nvme())
    return CrcText(Crc::kCrc64Nvme, *known);
  return ChecksumText(Crc::kCrc64Nvme, source);
}

Result<std::string> ChecksumText(Crc kind, BodySource& source) {
  source.Rewind();
  std::uint64_t crc = 0;
  std::uint64_t total = 0;
  for (ByteView next = source.Next(kStep); !next.empty() && total <= source.size();
       next = source.Next(kStep)) {
    crc = UpdateCrc(kind, next, crc);
    total += next.size();
  }
  source.Rewind();
  if (total != source.size()) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the body source returned " + std::to_string(total) +
                           " bytes, but its size() is " + std::to_string(source.size()));
  }
  return CrcText(kind, crc);
}

Result<void> CheckConfirmedChecksum(const std::vector<http::Header>& sent,
                                    const http::ResponseHead& head) {
  const std::string* checksum = nullptr;
  for (const http::Header& header : sent) {
    if (header.name == "x-amz-write-offset-bytes") return Ok();
    if (header.name == kCrc64NvmeHeader) checksum = &header.value;
  }
  if (checksum == nullptr) return Ok();
  const auto confirmed = head.Find(kCrc64NvmeHeader);
  if (!confirmed || *confirmed == *checksum) return Ok();
  return Error::Make(ErrorKind::kDataLoss, "the bytes sent have CRC64NVME " + *checksum +
                                               ", but the server confirms CRC64NVME " +
                                               std::string(*confirmed));
}

std::optional<ChecksumVerifier> ChecksumVerifier::For(const ObjectMetadata& metadata) {
  ExpectedCrc expected = FindCrc(metadata.checksums);
  if (expected.crc == Crc::kNone) return std::nullopt;
  return ChecksumVerifier(std::move(expected));
}

void ChecksumVerifier::Update(ByteView bytes) { value_ = UpdateCrc(expected_.crc, bytes, value_); }

Result<void> ChecksumVerifier::Finish() const { return CompareCrc(expected_, value_); }

}  // namespace penstock::s3
