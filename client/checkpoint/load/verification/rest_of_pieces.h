// The additional bytes that a load reads to compare whole pieces of a payload.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_REST_OF_PIECES_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_REST_OF_PIECES_H_

#include <cstdint>
#include <vector>

namespace penstock::checkpoint {

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const ByteRange&) const = default;
};

// Returns, in ascending order, the ranges that complete the pieces of which `wanted` has a part. A
// piece that lacks more than `budget` bytes stays incomplete; the bytes of others are subtracted
// from `budget`. `wanted` may be in any order, overlap, and have empty ranges; all are within the
// payload.
std::vector<ByteRange> RestOfPieces(std::vector<ByteRange> wanted, std::uint64_t payload_bytes,
                                    std::uint64_t piece_bytes, std::uint64_t& budget);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_REST_OF_PIECES_H_
