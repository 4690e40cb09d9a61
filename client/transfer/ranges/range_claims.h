// Who fetches which bytes of a range: one front that runs through it from its begin, and parts
// taken from its end. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_CLAIMS_H_
#define PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_CLAIMS_H_

#include <cstdint>
#include <optional>

#include "penstock/base/types.h"

namespace penstock::transfer {

// The front may be anywhere in what was granted to it; parts are taken behind that, so no byte is
// fetched twice. The range is divided when granted() == limit().
class RangeClaims {
 public:
  RangeClaims() = default;
  // The front starts with the first `first_grant_bytes`.
  RangeClaims(ByteRange whole, std::uint64_t first_grant_bytes);

  // The front has reached `reached`: how far it may go now. `reached` itself when all behind it is
  // taken or done.
  std::uint64_t Grant(std::uint64_t reached, std::uint64_t step_bytes);

  // The last `part_bytes` that nobody has, on a grid counted from the range's begin. nullopt when
  // what is left is less than half a part: the front will be there before another request would.
  std::optional<ByteRange> TakePart(std::uint64_t part_bytes);

  std::uint64_t granted() const { return granted_; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t unclaimed() const { return limit_ - granted_; }

 private:
  ByteRange whole_;
  std::uint64_t granted_ = 0;  // the front's, from whole_.begin on
  std::uint64_t limit_ = 0;    // the lowest part's begin
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_RANGES_RANGE_CLAIMS_H_
