// Times that tests move far away, added up where the clock's 64 bits of nanoseconds end.
#ifndef PENSTOCK_BASE_TIME_AHEAD_H_
#define PENSTOCK_BASE_TIME_AHEAD_H_

#include <chrono>

#include "penstock/base/clock.h"

namespace penstock {

// `now` and so much more, or less where `ahead` is negative. Never in the last day before the clock
// ends, in 2262, so that allowances of minutes can be added to it. `now` is not before 1970.
inline WallTime TimeAhead(WallTime now, std::chrono::nanoseconds ahead) {
  constexpr WallTime kLast = WallTime::max() - std::chrono::days(1);
  const auto step = std::chrono::duration_cast<WallTime::duration>(ahead);
  return now >= kLast || step > kLast - now ? kLast : now + step;
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_TIME_AHEAD_H_
