// Models of S3's time to first byte and connection speed: distributions fitted to published
// figures. Each request draws its own values.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LATENCY_PROFILE_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LATENCY_PROFILE_H_

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/traffic/draws.h"
#include "penstock/base/result.h"

namespace penstock::emulator::traffic {

// The kind of request that the time to first byte depends on.
enum class Work { kGet, kHead, kList, kWrite };

// The time to first byte in milliseconds: a floor plus a log-normal part, sometimes plus a late
// arrival.
struct Waiting {
  double floor_ms = 0;
  double median_ms = 0;  // Median of the log-normal part.
  double sigma = 0;      // Standard deviation of its logarithm.
  struct Late {
    double chance = 0;  // Probability, 0 to 1.
    double min_ms = 0;
    double max_ms = 0;  // Uniform between min_ms and max_ms.
  };
  Late straggler;
  Late stall;
};

struct LatencyProfile {
  std::string_view name;
  Waiting get;
  Waiting head;
  Waiting list;
  Waiting write;
  // Connection speed in bytes per second: log-normal within bounds. Median 0: no limit.
  double connection_median = 0;
  double connection_sigma = 0;
  double connection_least = 0;
  double connection_most = 0;

  const Waiting& Of(Work work) const;
};

// Finds a profile by name: "s3-standard", "s3-express", or "none", which has no delay. Returns
// kInvalidArgument that lists the names.
Result<LatencyProfile> FindProfile(std::string_view name);
std::vector<std::string_view> ProfileNames();

// Returns the time to first byte for a request with this draw.
std::chrono::nanoseconds FirstByte(const Waiting& waiting, const Draw& draw);
// Returns the bytes per second of a connection with this draw; 0: no limit.
std::uint64_t ConnectionRate(const LatencyProfile& profile, const Draw& draw);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LATENCY_PROFILE_H_
