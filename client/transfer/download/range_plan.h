// Which requests bring scattered pieces of an object, and where the bytes of each request land. No
// I/O. Unless said otherwise pieces ascend without overlap, and none is empty.
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

// Smaller pieces are copied to their place: a window of their own would cost more.
inline constexpr std::size_t kDirectBytes = 4096;

// kInvalidArgument where one reaches beyond 2^63 bytes.
Result<void> CheckPieces(std::span<const RangePiece> pieces);

// The gap that is worth reading through where nobody said (RangeReaderOptions::max_gap_bytes).
std::uint64_t GapWorthReading(std::span<const RangePiece> pieces);

// The ranges to ask for, ascending: stretches of pieces with gaps of at most `max_gap_bytes`, in
// requests of at most `max_request_bytes` (at least 1).
std::vector<ByteRange> PlanRequests(std::span<const RangePiece> pieces, std::uint64_t max_gap_bytes,
                                    std::uint64_t max_request_bytes);

// Where the bytes of one request go. Movable; the views stay valid.
class RangeLanding {
 public:
  // `range` is one that PlanRequests gave for these pieces.
  RangeLanding(std::span<const RangePiece> pieces, ByteRange range);

  // One after the other, together as long as the range.
  const std::vector<MutableByteView>& views() const { return views_; }
  // Once everything has landed: brings small pieces to their place.
  void Settle();

 private:
  struct Copy {
    std::size_t from = 0;  // in staging_
    MutableByteView to;
  };
  struct Stretch {
    MutableByteView wanted;  // empty: a gap
    std::uint64_t size = 0;
  };
  bool Add(const Stretch& stretch);
  void Stage(std::uint64_t size);
  // a longer gap is received over and over into so much
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
