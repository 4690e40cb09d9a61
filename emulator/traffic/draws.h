// Deterministic random numbers that depend only on a seed and on what they are drawn for. They do
// not depend on threads or timing. Two clients that send the same requests get the same draws.
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
  // Returns HMAC-SHA-256 of `what` and `ordinal`, keyed with the seed and split into four numbers.
  Draw Of(std::string_view what, std::uint64_t ordinal) const;

 private:
  HmacSha256Key key_;
};

// Converts two uniform numbers in [0, 1) to a standard normal number (mean 0, deviation 1).
double Normal(double first, double second);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_DRAWS_H_
