// Pieces of an object that several ask for: each byte is brought once and copied to the others. No
// I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_OVERLAP_H_
#define PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_OVERLAP_H_

#include <vector>

#include "penstock/range_reader.h"

namespace penstock::transfer {

struct PieceCopy {
  ByteView from;
  MutableByteView to;  // of the same size
};

struct DisjointPieces {
  std::vector<RangePiece> pieces;  // ascending, without overlap, none empty
  // once all pieces have landed, in this order: a later one may read what an earlier one wrote
  std::vector<PieceCopy> copies;
};

// Pieces in any order, of which none ends beyond 2^63. Their memory must not overlap.
DisjointPieces WithoutOverlap(std::vector<RangePiece> pieces);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_OVERLAP_H_
