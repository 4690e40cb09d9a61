#include "client/checkpoint/piece_crcs.h"

#include <algorithm>

#include "base/crc/crc.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kMinPieceBytes = 128 << 10;
constexpr std::uint64_t kPieces = 64;  // of a tensor of 64 * kMinPieceBytes and more, at least

}  // namespace

std::uint64_t PieceBytes(std::span<const std::int64_t> sizes, std::uint64_t item_bytes) {
  std::uint64_t row = item_bytes;
  for (std::size_t i = 1; i < sizes.size(); ++i) row *= static_cast<std::uint64_t>(sizes[i]);
  std::uint64_t rows = sizes.empty() ? 1 : static_cast<std::uint64_t>(sizes[0]);
  for (std::uint64_t count = 1; rows > 1 && (rows * row > kMaxPieceBytes ||
                                             (count < kPieces && rows * row >= 2 * kMinPieceBytes));
       count *= 2) {
    rows = (rows + 1) / 2;
  }
  std::uint64_t bytes = rows * row;
  while (bytes > kMaxPieceBytes) bytes = (bytes + 1) / 2;
  return bytes;
}

PieceCrcs ComputePieceCrcs(ByteView payload, std::uint64_t piece_bytes) {
  PieceCrcs crcs;
  while (!payload.empty()) {
    const ByteView piece = payload.first(std::min<std::uint64_t>(piece_bytes, payload.size()));
    payload = payload.subspan(piece.size());
    crcs.pieces.push_back(Crc32(piece));
    crcs.whole = CombineCrc32(crcs.whole, crcs.pieces.back(), piece.size());
  }
  return crcs;
}

std::string WriteCrc32s(std::span<const std::uint32_t> crcs) {
  std::string bytes;
  for (const std::uint32_t crc : crcs) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(crc >> shift);
  }
  return bytes;
}

std::optional<std::vector<std::uint32_t>> ReadCrc32s(std::string_view bytes) {
  if (bytes.size() % 4 != 0) return std::nullopt;
  std::vector<std::uint32_t> crcs(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    crcs[i / 4] |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << i % 4 * 8;
  return crcs;
}

}  // namespace penstock::checkpoint
