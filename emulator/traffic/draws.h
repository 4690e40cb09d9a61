// Chance that is no chance: numbers that depend on a seed and on what they are drawn for, and on
// nothing else. Threads and timing change nothing, and two clients that ask the same see the same
// (emulator.md §2.4).
#ifndef PENSTOCK_EMULATOR_TRAFFIC_DRAWS_H_
#define PENSTOCK_EMULATOR_TRAFFIC_DRAWS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "base/digest.h"

namespace penstock::emulator::traffic {

// Four independent numbers, each uniform in [0, 1).
using Draw = std::array<double, 4>;

// Thread safety: safe from any thread.
class Draws {
 public:
  explicit Draws(std::uint64_t seed);
  // HMAC-SHA-256 under the seed of `what` and `ordinal`, cut in four.
  Draw Of(std::string_view what, std::uint64_t ordinal) const;

 private:
  HmacSha256Key key_;
};

// A number of the normal distribution with mean 0 and deviation 1, from two uniform ones in [0, 1).
double Normal(double first, double second);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_DRAWS_H_
