#include "client/transfer/object_checksum.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/crc.h"
#include "base/encoding.h"

namespace penstock::transfer {
namespace {

struct Kind {
  Crc crc;
  std::string_view metadata_name;
  std::string_view name;
  std::size_t bytes;
};
// In the order of preference (spec/protocol.md §2.12).
constexpr std::array<Kind, 3> kKinds = {{{Crc::kCrc64Nvme, "crc64nvme", "CRC64NVME", 8},
                                         {Crc::kCrc32c, "crc32c", "CRC32C", 4},
                                         {Crc::kCrc32, "crc32", "CRC32", 4}}};

std::string Text(const Kind& kind, std::uint64_t value) {
  std::array<std::byte, 8> big_endian{};
  for (std::size_t i = 0; i < kind.bytes; ++i) {
    big_endian[i] = static_cast<std::byte>(value >> (8 * (kind.bytes - 1 - i)));
  }
  return Base64Encode(ByteView(big_endian).first(kind.bytes));
}

// One more piece after those that `value` stands for.
std::uint64_t AppendPiece(Crc crc, std::uint64_t value, const ChecksumPiece& piece) {
  const auto first = static_cast<std::uint32_t>(value);
  const auto second = static_cast<std::uint32_t>(piece.value);
  switch (crc) {
    case Crc::kCrc64Nvme: return CombineCrc64Nvme(value, piece.value, piece.range.size());
    case Crc::kCrc32c: return CombineCrc32c(first, second, piece.range.size());
    case Crc::kCrc32: return CombineCrc32(first, second, piece.range.size());
    case Crc::kNone: break;
  }
  return 0;
}

Result<void> CompareChecksum(const ObjectChecksum& checksum, std::uint64_t value) {
  for (const Kind& kind : kKinds) {
    if (kind.crc != checksum.crc) continue;
    const std::string actual = Text(kind, value);
    if (actual == checksum.expected) return Ok();
    return Error::Make(ErrorKind::kDataLoss, "the bytes received have " + std::string(kind.name) + " " + actual +
                                                 ", but the object's is " + checksum.expected);
  }
  return Ok();
}

}  // namespace

ObjectChecksum ChecksumOf(const ObjectMetadata& metadata) {
  for (const Kind& kind : kKinds) {
    for (const auto& [name, value] : metadata.checksums) {
      if (name == kind.metadata_name) return {kind.crc, value};
    }
  }
  return {};
}

std::uint64_t UpdateCrc(Crc crc, ByteView bytes, std::uint64_t previous) {
  switch (crc) {
    case Crc::kCrc64Nvme: return Crc64Nvme(bytes, previous);
    case Crc::kCrc32c: return Crc32c(bytes, static_cast<std::uint32_t>(previous));
    case Crc::kCrc32: return Crc32(bytes, static_cast<std::uint32_t>(previous));
    case Crc::kNone: break;
  }
  return 0;
}

Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces, ByteView object) {
  if (checksum.crc == Crc::kNone) return Ok();
  std::sort(pieces.begin(), pieces.end(),
            [](const ChecksumPiece& a, const ChecksumPiece& b) { return a.range.begin < b.range.begin; });
  std::uint64_t value = 0;
  std::uint64_t end = 0;
  for (ChecksumPiece& piece : pieces) {
    PENSTOCK_CHECK(piece.range.begin == end && piece.range.end <= object.size());
    if (piece.crc != checksum.crc) {
      piece.value = UpdateCrc(checksum.crc, object.subspan(piece.range.begin, piece.range.size()), 0);
    }
    value = AppendPiece(checksum.crc, value, piece);
    end = piece.range.end;
  }
  PENSTOCK_CHECK(end == object.size());
  return CompareChecksum(checksum, value);
}

}  // namespace penstock::transfer
