#include "client/transfer/range_claims.h"

#include <algorithm>

namespace penstock::transfer {

RangeClaims::RangeClaims(ByteRange whole, std::uint64_t first_grant_bytes)
    : whole_(whole),
      granted_(whole.begin + std::min(first_grant_bytes, whole.size())),
      limit_(whole.end) {}

std::uint64_t RangeClaims::Grant(std::uint64_t reached, std::uint64_t step_bytes) {
  // After a restart the front is before its granted end. Those bytes still belong to it.
  if (reached < granted_) return granted_;
  granted_ += std::min(step_bytes, limit_ - granted_);
  return granted_;
}

std::optional<ByteRange> RangeClaims::TakePart(std::uint64_t part_bytes) {
  if (unclaimed() == 0 || unclaimed() < part_bytes / 2) return std::nullopt;
  const std::uint64_t last = limit_ - 1 - whole_.begin;
  const std::uint64_t begin = std::max(whole_.begin + last / part_bytes * part_bytes, granted_);
  const ByteRange part{begin, limit_};
  limit_ = begin;
  return part;
}

}  // namespace penstock::transfer
