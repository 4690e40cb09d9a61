// How long S3 takes to answer, and how fast a connection is: distributions fitted to published
// figures (performance.md §4.1, §4.2), from which each request draws its own.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LATENCY_PROFILE_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LATENCY_PROFILE_H_

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/traffic/draws.h"
#include "penstock/base/result.h"

namespace penstock::emulator::traffic {

// What the time to the first byte depends on.
enum class Work { kGet, kHead, kList, kWrite };

// Milliseconds: `floor` and a log-normal share on top, and now and then one of two late ones on top
// of both.
struct Waiting {
  double floor_ms = 0;
  double median_ms = 0;  // of the log-normal share
  double sigma = 0;      // of its logarithm
  struct Late {
    double chance = 0;  // 0 to 1
    double least_ms = 0;
    double most_ms = 0;  // uniform between the two
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
  // Bytes a second of one connection, log-normal within bounds; 0: no limit.
  double connection_median = 0;
  double connection_sigma = 0;
  double connection_least = 0;
  double connection_most = 0;

  const Waiting& Of(Work work) const;
};

// "s3-standard", "s3-express", and "none", which takes no time. kInvalidArgument names what there
// is.
Result<LatencyProfile> FindProfile(std::string_view name);
std::vector<std::string_view> ProfileNames();

// Time to the first byte of a request that drew `draw`.
std::chrono::nanoseconds FirstByte(const Waiting& waiting, const Draw& draw);
// Bytes a second of a connection that drew `draw`; 0: no limit.
std::uint64_t ConnectionRate(const LatencyProfile& profile, const Draw& draw);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LATENCY_PROFILE_H_
