// Plans the requests for scattered pieces of an object, and where the bytes of each request go. No
// I/O. Unless stated otherwise, pieces ascend without overlap and none is empty.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/base/result.h"
#include "penstock/base/types.h"
#include "penstock/range_reader.h"

namespace penstock::transfer {

// Smaller pieces are copied, because a receive window for each would cost more.
inline constexpr std::size_t kDirectBytes = 4096;

// Returns kInvalidArgument if a piece ends beyond 2^63 bytes.
Result<void> CheckPieces(std::span<const RangePiece> pieces);

// Returns the gap that is worth reading through if RangeReaderOptions::max_gap_bytes is unset.
std::uint64_t GapWorthReading(std::span<const RangePiece> pieces);

// Returns the ranges to request, in ascending order. Joins pieces with gaps of at most
// `max_gap_bytes`. Each request has at most `max_request_bytes` (at least 1).
std::vector<ByteRange> PlanRequests(std::span<const RangePiece> pieces, std::uint64_t max_gap_bytes,
                                    std::uint64_t max_request_bytes);

// Receive memory of one request. Movable; the views stay valid.
class RangeBuffer {
 public:
  // `range` must be a result of PlanRequests for these pieces.
  RangeBuffer(std::span<const RangePiece> pieces, ByteRange range);

  // The views in order. Their total size is the size of the range.
  const std::vector<MutableByteView>& views() const { return views_; }
  // Copies small pieces to their memory. Call it after all bytes have arrived.
  void CopyStaged();

 private:
  struct Copy {
    std::size_t from = 0;  // offset in staging_
    MutableByteView to;
  };
  struct Segment {
    MutableByteView wanted;  // empty: a gap
    std::uint64_t size = 0;
  };
  bool Add(const Segment& segment);
  void Stage(std::uint64_t size);
  // Larger gaps are received repeatedly into a buffer of this size.
  static constexpr std::size_t kHoleBytes = 64 << 10;

  std::size_t staged_ = 0;
  bool last_is_staged_ = false;
  std::unique_ptr<std::byte[]> staging_;
  std::unique_ptr<std::byte[]> hole_;
  std::vector<Copy> copies_;
  std::vector<MutableByteView> views_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_PLAN_H_
