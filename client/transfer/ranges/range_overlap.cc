#include "client/transfer/ranges/range_overlap.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace penstock::transfer {
namespace {

std::uint64_t EndOf(const RangePiece& piece) { return piece.begin + piece.memory.size(); }

bool AreDisjoint(const std::vector<RangePiece>& pieces) {
  return std::adjacent_find(pieces.begin(), pieces.end(),
                            [](const RangePiece& one, const RangePiece& next) {
                              return next.begin < EndOf(one);
                            }) == pieces.end();
}

}  // namespace

DisjointPieces WithoutOverlap(std::vector<RangePiece> pieces) {
  std::erase_if(pieces, [](const RangePiece& piece) { return piece.memory.empty(); });
  if (AreDisjoint(pieces)) return {std::move(pieces), {}};
  // Sorts the longest piece first among pieces with the same start: it contains the others.
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const RangePiece& one, const RangePiece& other) {
                     return one.begin != other.begin ? one.begin < other.begin
                                                     : one.memory.size() > other.memory.size();
                   });
  DisjointPieces disjoint;
  RangePiece farthest;  // the piece that ends last so far; it covers everything after its start
  for (const RangePiece& piece : pieces) {
    const std::uint64_t end = EndOf(farthest);
    const std::uint64_t here =
        piece.begin < end ? std::min<std::uint64_t>(end - piece.begin, piece.memory.size()) : 0;
    if (here > 0) {
      disjoint.copies.push_back(
          {farthest.memory.subspan(piece.begin - farthest.begin, here), piece.memory.first(here)});
    }
    if (here < piece.memory.size())
      disjoint.pieces.push_back({piece.begin + here, piece.memory.subspan(here)});
    if (EndOf(piece) > end) farthest = piece;
  }
  return disjoint;
}

}  // namespace penstock::transfer
