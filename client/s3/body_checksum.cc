#include "client/s3/body_checksum.h"

#include <utility>

#include "base/crc.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kStep = 1 << 20;

}  // namespace

std::string Crc64NvmeText(ByteView bytes) { return CrcText(Crc::kCrc64Nvme, Crc64Nvme(bytes)); }

Result<std::string> Crc64NvmeText(BodySource& source) {
  if (const std::optional<std::uint64_t> known = source.crc64nvme()) return CrcText(Crc::kCrc64Nvme, *known);
  return ChecksumText(Crc::kCrc64Nvme, source);
}

Result<std::string> ChecksumText(Crc kind, BodySource& source) {
  source.Rewind();
  std::uint64_t crc = 0;
  std::uint64_t total = 0;
  for (ByteView next = source.Next(kStep); !next.empty() && total <= source.size(); next = source.Next(kStep)) {
    crc = UpdateCrc(kind, next, crc);
    total += next.size();
  }
  source.Rewind();
  if (total != source.size()) {
    return Error::Make(ErrorKind::kInvalidArgument, "the body gave " + std::to_string(total) + " bytes, but its size is " +
                                                        std::to_string(source.size()));
  }
  return CrcText(kind, crc);
}

std::optional<ChecksumVerifier> ChecksumVerifier::For(const ObjectMetadata& metadata) {
  ExpectedCrc expected = FindCrc(metadata.checksums);
  if (expected.crc == Crc::kNone) return std::nullopt;
  return ChecksumVerifier(std::move(expected));
}

void ChecksumVerifier::Update(ByteView bytes) { value_ = UpdateCrc(expected_.crc, bytes, value_); }

Result<void> ChecksumVerifier::Finish() const { return CompareCrc(expected_, value_); }

}  // namespace penstock::s3
