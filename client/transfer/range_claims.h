// Divides a range between one front, which reads it from the start, and parts that are taken from
// its end. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_RANGE_CLAIMS_H_
#define PENSTOCK_CLIENT_TRANSFER_RANGE_CLAIMS_H_

#include <cstdint>
#include <optional>

#include "penstock/base/types.h"

namespace penstock::transfer {

// The front reads only the bytes granted to it. Parts are taken after those, so no byte is fetched
// twice. The range is fully divided when granted() == limit().
class RangeClaims {
 public:
  RangeClaims() = default;
  // Grants the first `first_grant_bytes` to the front.
  RangeClaims(ByteRange whole, std::uint64_t first_grant_bytes);

  // The front has reached offset `reached`. Returns the offset up to which it may continue. Returns
  // `reached` if all bytes after it are taken.
  std::uint64_t Grant(std::uint64_t reached, std::uint64_t step_bytes);

  // Returns the last unclaimed `part_bytes`, aligned to multiples of `part_bytes` from the start of
  // the range. Nullopt if less than half a part is left, because the front will be there before
  // another request.
  std::optional<ByteRange> TakePart(std::uint64_t part_bytes);

  std::uint64_t granted() const { return granted_; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t unclaimed() const { return limit_ - granted_; }

 private:
  ByteRange whole_;
  std::uint64_t granted_ = 0;  // end of the front's bytes
  std::uint64_t limit_ = 0;    // start of the lowest part
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_RANGE_CLAIMS_H_
