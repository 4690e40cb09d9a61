// Overlapping pieces of an object: each byte is fetched once and copied to the other pieces. No
// I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_OVERLAP_H_
#define PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_OVERLAP_H_

#include <vector>

#include "penstock/range_reader.h"

namespace penstock::transfer {

struct PieceCopy {
  ByteView from;
  MutableByteView to;  // same size as `from`
};

struct DisjointPieces {
  std::vector<RangePiece> pieces;  // ascending, without overlap, none empty
  // To be copied in this order after all pieces have arrived. A later copy may read what an earlier
  // one wrote.
  std::vector<PieceCopy> copies;
};

// Takes pieces in any order, none of which ends beyond 2^63. Their memory must not overlap.
DisjointPieces WithoutOverlap(std::vector<RangePiece> pieces);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_OVERLAP_H_
