// Adds offsets to a time without overflowing the clock's 64 bits of nanoseconds. Tests move clocks
// far ahead.
#ifndef PENSTOCK_BASE_TIME_AHEAD_H_
#define PENSTOCK_BASE_TIME_AHEAD_H_

#include <chrono>

#include "penstock/base/clock.h"

namespace penstock {

// Returns `now` plus `ahead`, which may be negative. The result is at least one day before the end
// of the clock (2262), so that margins of minutes can be added to it. `now` must not be before
// 1970.
inline WallTime TimeAhead(WallTime now, std::chrono::nanoseconds ahead) {
  constexpr WallTime kLast = WallTime::max() - std::chrono::days(1);
  const auto step = std::chrono::duration_cast<WallTime::duration>(ahead);
  return now >= kLast || step > kLast - now ? kLast : now + step;
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_TIME_AHEAD_H_
