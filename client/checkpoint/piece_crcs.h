// The pieces of a tensor's bytes that have checksums of their own. No I/O.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PIECE_CRCS_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PIECE_CRCS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/bytes.h"

namespace penstock::checkpoint {

inline constexpr std::uint64_t kMaxPieceBytes = 1 << 20;

// Size of the pieces of a row-major tensor; the last one may be smaller. 0 for a tensor without
// elements. A piece is a group of whole rows, unless a row exceeds kMaxPieceBytes. Requires that
// the tensor's bytes fit 62 bits.
std::uint64_t PieceBytes(std::span<const std::int64_t> sizes, std::uint64_t item_bytes);

// Number of pieces of `bytes` bytes.
inline std::uint64_t PieceCount(std::uint64_t bytes, std::uint64_t piece_bytes) {
  return piece_bytes == 0 ? 0 : bytes / piece_bytes + (bytes % piece_bytes == 0 ? 0 : 1);
}

// The CRC-32s of a payload and of its pieces.
struct PieceCrcs {
  std::uint32_t whole = 0;
  std::vector<std::uint32_t> pieces;
};
PieceCrcs ComputePieceCrcs(ByteView payload, std::uint64_t piece_bytes);

// CRC-32s as bytes, 4 each, little-endian. Reading returns nullopt for another number of bytes.
std::string WriteCrc32s(std::span<const std::uint32_t> crcs);
std::optional<std::vector<std::uint32_t>> ReadCrc32s(std::string_view bytes);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PIECE_CRCS_H_
