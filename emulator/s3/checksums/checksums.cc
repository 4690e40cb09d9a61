#include "emulator/s3/checksums/checksums.h"

#include <array>
#include <iterator>

#include "base/crc/crc.h"
#include "base/encoding.h"
#include "emulator/s3/protocol/text.h"
#include "penstock/base/check.h"

namespace penstock::emulator::s3 {
namespace {

using enum ChecksumAlgorithm;

constexpr ChecksumInfo kAlgorithms[] = {
    {kCrc32, "CRC32", "crc32", "x-amz-checksum-crc32", "ChecksumCRC32", 4, true, true},
    {kCrc32c, "CRC32C", "crc32c", "x-amz-checksum-crc32c", "ChecksumCRC32C", 4, true, true},
    {kCrc64Nvme, "CRC64NVME", "crc64nvme", "x-amz-checksum-crc64nvme", "ChecksumCRC64NVME", 8, true,
     false},
    {kSha1, "SHA1", "sha1", "x-amz-checksum-sha1", "ChecksumSHA1", 20, false, true},
    {kSha256, "SHA256", "sha256", "x-amz-checksum-sha256", "ChecksumSHA256", 32, false, true},
    {kSha512, "SHA512", "sha512", "x-amz-checksum-sha512", "ChecksumSHA512", 64, false, true},
    {kMd5, "MD5", "md5", "x-amz-checksum-md5", "ChecksumMD5", 16, false, true},
    {kXxhash64, "XXHASH64", "xxhash64", "x-amz-checksum-xxhash64", "ChecksumXXHASH64", 8, false,
     true},
    {kXxhash3, "XXHASH3", "xxhash3", "x-amz-checksum-xxhash3", "ChecksumXXHASH3", 8, false, true},
    {kXxhash128, "XXHASH128", "xxhash128", "x-amz-checksum-xxhash128", "ChecksumXXHASH128", 16,
     false, true},
};

std::string BigEndian(std::uint64_t value, std::size_t bytes) {
  std::string raw(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) raw[bytes - 1 - i] = static_cast<char>(value >> (8 * i));
  return raw;
}

std::uint64_t FromBigEndian(std::string_view raw) {
  std::uint64_t value = 0;
  for (const char c : raw) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::uint64_t Combine(ChecksumAlgorithm algorithm, std::uint64_t first, std::uint64_t second,
                      std::uint64_t length) {
  switch (algorithm) {
    case kCrc32:
      return CombineCrc32(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second),
                          length);
    case kCrc32c:
      return CombineCrc32c(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second),
                           length);
    default: return CombineCrc64Nvme(first, second, length);
  }
}

}  // namespace

const ChecksumInfo& InfoOf(ChecksumAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

const ChecksumInfo* FindChecksum(std::string_view name) {
  for (const ChecksumInfo& info : kAlgorithms) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const ChecksumInfo* FindChecksumHeader(std::string_view header_name) {
  for (const ChecksumInfo& info : kAlgorithms) {
    if (EqualsIgnoreCase(info.header, header_name)) return &info;
  }
  return nullptr;
}

const ChecksumInfo* FindChecksumElement(std::string_view element) {
  for (const ChecksumInfo& info : kAlgorithms) {
    if (info.element == element) return &info;
  }
  return nullptr;
}

ChecksumDigester::ChecksumDigester(ChecksumAlgorithm algorithm) : algorithm_(algorithm) {
  switch (algorithm) {
    case kCrc32:
    case kCrc32c:
    case kCrc64Nvme: break;
    case kSha1: digester_.emplace(DigestAlgorithm::kSha1); break;
    case kSha256: digester_.emplace(DigestAlgorithm::kSha256); break;
    case kSha512: digester_.emplace(DigestAlgorithm::kSha512); break;
    case kMd5: digester_.emplace(DigestAlgorithm::kMd5); break;
    case kXxhash64: xxhash_.emplace(XxhashKind::kXxh64); break;
    case kXxhash3: xxhash_.emplace(XxhashKind::kXxh3); break;
    case kXxhash128: xxhash_.emplace(XxhashKind::kXxh128); break;
  }
}

void ChecksumDigester::Update(ByteView bytes) {
  switch (algorithm_) {
    case kCrc32: crc_ = Crc32(bytes, static_cast<std::uint32_t>(crc_)); break;
    case kCrc32c: crc_ = Crc32c(bytes, static_cast<std::uint32_t>(crc_)); break;
    case kCrc64Nvme: crc_ = Crc64Nvme(bytes, crc_); break;
    case kSha1:
    case kSha256:
    case kSha512:
    case kMd5: digester_->Update(bytes); break;
    case kXxhash64:
    case kXxhash3:
    case kXxhash128: xxhash_->Update(bytes); break;
  }
}

std::string ChecksumDigester::Finish() {
  if (digester_) return Base64Encode(AsBytes(digester_->Finish()));
  if (xxhash_) return Base64Encode(AsBytes(xxhash_->Finish()));
  const std::string raw = BigEndian(crc_, InfoOf(algorithm_).digest_bytes);
  crc_ = 0;
  return Base64Encode(AsBytes(raw));
}

std::string CompositeChecksum(ChecksumAlgorithm algorithm, const std::vector<PartChecksum>& parts) {
  ChecksumDigester digester(algorithm);
  for (const PartChecksum& part : parts) {
    const auto raw = Base64Decode(part.value);
    PENSTOCK_CHECK(raw.has_value());
    digester.Update(AsBytes(*raw));
  }
  return digester.Finish() + "-" + std::to_string(parts.size());
}

std::string FullObjectChecksum(ChecksumAlgorithm algorithm,
                               const std::vector<PartChecksum>& parts) {
  const ChecksumInfo& info = InfoOf(algorithm);
  PENSTOCK_CHECK(info.full_object);
  std::uint64_t whole = 0;
  for (const PartChecksum& part : parts) {
    const auto raw = Base64Decode(part.value);
    PENSTOCK_CHECK(raw.has_value());
    whole = Combine(algorithm, whole, FromBigEndian(*raw), part.size_bytes);
  }
  return Base64Encode(AsBytes(BigEndian(whole, info.digest_bytes)));
}

void WriteChecksum(XmlWriter& xml, std::string_view algorithm, std::string_view value) {
  if (const ChecksumInfo* info = FindChecksum(algorithm); info != nullptr && !value.empty()) {
    xml.Element(info->element, value);
  }
}

void AddChecksumHeader(Call& call, std::string_view algorithm, std::string_view value) {
  if (const ChecksumInfo* info = FindChecksum(algorithm); info != nullptr && !value.empty()) {
    call.response().Add(std::string(info->header), std::string(value));
  }
}

}  // namespace penstock::emulator::s3
