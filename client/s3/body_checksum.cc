#include "client/s3/body_checksum.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/crc.h"
#include "base/encoding.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kStep = 1 << 20;

std::string BigEndianBase64(std::uint64_t value, std::size_t bytes) {
  std::array<std::byte, 8> out{};
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(value >> (8 * (bytes - 1 - i)));
  return Base64Encode(ByteView(out).first(bytes));
}

const std::string* FindChecksum(const ObjectMetadata& metadata, std::string_view algorithm) {
  for (const auto& [name, value] : metadata.checksums) {
    if (name == algorithm) return &value;
  }
  return nullptr;
}

}  // namespace

std::string Crc64NvmeText(ByteView bytes) { return BigEndianBase64(Crc64Nvme(bytes), 8); }

Result<std::string> Crc64NvmeText(BodySource& source) {
  source.Rewind();
  std::uint64_t crc = 0;
  std::uint64_t total = 0;
  for (ByteView next = source.Next(kStep); !next.empty() && total <= source.size(); next = source.Next(kStep)) {
    crc = Crc64Nvme(next, crc);
    total += next.size();
  }
  source.Rewind();
  if (total != source.size()) {
    return Error::Make(ErrorKind::kInvalidArgument, "the body gave " + std::to_string(total) + " bytes, but its size is " +
                                                        std::to_string(source.size()));
  }
  return BigEndianBase64(crc, 8);
}

std::optional<ChecksumVerifier> ChecksumVerifier::For(const ObjectMetadata& metadata) {
  if (const auto* text = FindChecksum(metadata, "crc64nvme")) return ChecksumVerifier(Algorithm::kCrc64Nvme, *text);
  if (const auto* text = FindChecksum(metadata, "crc32c")) return ChecksumVerifier(Algorithm::kCrc32c, *text);
  if (const auto* text = FindChecksum(metadata, "crc32")) return ChecksumVerifier(Algorithm::kCrc32, *text);
  return std::nullopt;
}

void ChecksumVerifier::Update(ByteView bytes) {
  switch (algorithm_) {
    case Algorithm::kCrc64Nvme: value_ = Crc64Nvme(bytes, value_); break;
    case Algorithm::kCrc32c: value_ = Crc32c(bytes, static_cast<std::uint32_t>(value_)); break;
    case Algorithm::kCrc32: value_ = Crc32(bytes, static_cast<std::uint32_t>(value_)); break;
  }
}

Result<void> ChecksumVerifier::Finish() const {
  const std::string actual = BigEndianBase64(value_, algorithm_ == Algorithm::kCrc64Nvme ? 8 : 4);
  if (actual == expected_) return Ok();
  const std::string_view name = algorithm_ == Algorithm::kCrc64Nvme ? "CRC64NVME"
                                : algorithm_ == Algorithm::kCrc32c  ? "CRC32C"
                                                                    : "CRC32";
  return Error::Make(ErrorKind::kDataLoss, "the bytes received have " + std::string(name) + " " + actual +
                                               ", but the object's is " + expected_);
}

}  // namespace penstock::s3
