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

// Smaller pieces are received into a staging buffer and copied, because a receive window for each
// would cost more.
inline constexpr std::size_t kDirectBytes = 4096;

// Returns kInvalidArgument if a piece ends beyond 2^63 bytes.
Result<void> CheckPieces(std::span<const RangePiece> pieces);

// Returns the largest gap to read instead of sending another request, if
// RangeReaderOptions::max_gap_bytes is unset.
std::uint64_t GapWorthReading(std::span<const RangePiece> pieces);

// Returns the ranges to request, in ascending order. Joins pieces with gaps of at most
// `max_gap_bytes`. Each request has at most `max_request_bytes` (at least 1).
std::vector<ByteRange> PlanRequests(std::span<const RangePiece> pieces, std::uint64_t max_gap_bytes,
                                    std::uint64_t max_request_bytes);

// The receive memory of one request. Moving it does not invalidate the views.
class RangeBuffer {
 public:
  // `range` must be a result of PlanRequests for these pieces.
  RangeBuffer(std::span<const RangePiece> pieces, ByteRange range);

  // The views in order. Their total size is the size of the range.
  const std::vector<MutableByteView>& views() const { return views_; }
  // Copies the small pieces from the staging buffer to their memory. Call it after all bytes have
  // arrived.
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
  // The bytes of larger gaps are discarded: they overwrite each other in a buffer of this size.
  static constexpr std::size_t kGapBufferBytes = 64 << 10;

  std::size_t staged_ = 0;
  bool last_is_staged_ = false;
  std::unique_ptr<std::byte[]> staging_;
  std::unique_ptr<std::byte[]> gap_buffer_;
  std::vector<Copy> copies_;
  std::vector<MutableByteView> views_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_PLAN_H_
