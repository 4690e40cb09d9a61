#include "emulator/store/checks/fsck_digests.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/crc/crc.h"
#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::emulator::store {
namespace {

template <class Number>
std::string Base64OfBigEndian(Number value) {
  std::array<std::byte, sizeof(Number)> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(value >> (8 * (bytes.size() - 1 - i)));
  }
  return Base64Encode(bytes);
}

// Computes a checksum in the format of records, base64. Unknown algorithms produce none.
class Checksum {
 public:
  explicit Checksum(const std::string& algorithm) : algorithm_(algorithm) {
    if (algorithm == "SHA256") digester_.emplace(DigestAlgorithm::kSha256);
    if (algorithm == "SHA512") digester_.emplace(DigestAlgorithm::kSha512);
    if (algorithm == "SHA1") digester_.emplace(DigestAlgorithm::kSha1);
    if (algorithm == "MD5") digester_.emplace(DigestAlgorithm::kMd5);
  }

  void Update(ByteView bytes) {
    if (algorithm_ == "CRC32") crc32_ = Crc32(bytes, crc32_);
    if (algorithm_ == "CRC32C") crc32_ = Crc32c(bytes, crc32_);
    if (algorithm_ == "CRC64NVME") crc64_ = Crc64Nvme(bytes, crc64_);
    if (digester_) digester_->Update(bytes);
  }

  std::optional<std::string> Finish() {
    if (algorithm_ == "CRC32" || algorithm_ == "CRC32C") return Base64OfBigEndian(crc32_);
    if (algorithm_ == "CRC64NVME") return Base64OfBigEndian(crc64_);
    if (digester_) return Base64Encode(AsBytes(digester_->Finish()));
    return std::nullopt;
  }

 private:
  const std::string algorithm_;
  std::uint32_t crc32_ = 0;
  std::uint64_t crc64_ = 0;
  std::optional<Digester> digester_;
};

bool LooksLikeMd5(const std::string& etag) {
  return etag.size() == 32 && etag.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// If the object is encrypted with a customer key or a KMS key, its ETag is not the MD5 of the
// bytes, although it can look like one. emulator/s3 stores such a key in attributes with these
// names; tests/durability/test_fsck.py checks that both agree.
bool IsEncryptedWithKey(const ObjectRecord& record) {
  return std::any_of(record.attributes.begin(), record.attributes.end(),
                     [](const auto& attribute) { return attribute.first.starts_with(":sse"); });
}

struct Expected {
  std::string md5;  // hex; empty: not compared
  std::string algorithm;
  // Compared only if it is base64, which checksums of checksums are not.
  std::string checksum;
};

Result<void> Compare(const std::string& what, ByteRange range, const Expected& expected,
                     const ReadRange& read, std::vector<std::string>& mismatches) {
  Digester md5(DigestAlgorithm::kMd5);
  Checksum checksum(expected.algorithm);
  const bool compares_checksum =
      !expected.checksum.empty() && Base64Decode(expected.checksum).has_value();
  PENSTOCK_TRY(read(range, [&](ByteView bytes) {
    if (!expected.md5.empty()) md5.Update(bytes);
    if (compares_checksum) checksum.Update(bytes);
  }));
  if (!expected.md5.empty()) {
    const std::string found = HexEncode(AsBytes(md5.Finish()));
    if (found != expected.md5)
      mismatches.push_back(what + " has ETag " + expected.md5 + ", but the MD5 of its bytes is " +
                           found);
  }
  const auto found = compares_checksum ? checksum.Finish() : std::nullopt;
  if (found && *found != expected.checksum) {
    mismatches.push_back(what + " has " + expected.algorithm + " " + expected.checksum +
                         ", but its bytes have " + *found);
  }
  return Ok();
}

}  // namespace

Result<std::vector<std::string>> CompareDigests(const ObjectRecord& record, const ReadRange& read,
                                                ETags etags) {
  std::vector<std::string> mismatches;
  const bool md5 = etags == ETags::kDigests && !IsEncryptedWithKey(record);
  Expected whole{{}, record.checksum_algorithm, record.checksum};
  if (md5 && record.parts.empty() && LooksLikeMd5(record.etag.value)) whole.md5 = record.etag.value;
  PENSTOCK_TRY(Compare("the object", {0, record.size}, whole, read, mismatches));
  std::uint64_t at = 0;
  for (const PartRecord& part : record.parts) {
    const ByteRange range{at, at + part.size};
    at = range.end;
    const Expected expected{md5 && LooksLikeMd5(part.etag.value) ? part.etag.value : std::string(),
                            record.checksum_algorithm, part.checksum};
    PENSTOCK_TRY(Compare("part " + std::to_string(part.number), range, expected, read, mismatches));
  }
  return mismatches;
}

Result<std::vector<std::string>> ComparePartDigests(const PartRecord& part,
                                                    const std::string& algorithm,
                                                    const ReadRange& read) {
  std::vector<std::string> mismatches;
  PENSTOCK_TRY(Compare("part " + std::to_string(part.number), {0, part.size},
                       {{}, algorithm, part.checksum}, read, mismatches));
  return mismatches;
}

}  // namespace penstock::emulator::store
