#include "emulator/traffic/latency_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace penstock::emulator::traffic {
namespace {

constexpr double kMegabyte = 1e6;

constexpr Waiting::Late kStraggler{.chance = 0.0048, .min_ms = 200, .max_ms = 1'000};
constexpr Waiting::Late kStall{.chance = 0.0002, .min_ms = 1'000, .max_ms = 5'000};
constexpr Waiting kExpressRead{.floor_ms = 2,
                               .median_ms = 2.6,
                               .sigma = 0.35,
                               .straggler = {.chance = 0.002, .min_ms = 10, .max_ms = 60},
                               .stall = {}};

constexpr std::array<LatencyProfile, 3> kProfiles{{
    {.name = "none", .get = {}, .head = {}, .list = {}, .write = {}},
    {.name = "s3-standard",
     .get =
         {.floor_ms = 12, .median_ms = 18, .sigma = 0.50, .straggler = kStraggler, .stall = kStall},
     .head =
         {.floor_ms = 4, .median_ms = 6, .sigma = 0.4, .straggler = kStraggler, .stall = kStall},
     .list =
         {.floor_ms = 14, .median_ms = 10, .sigma = 0.35, .straggler = kStraggler, .stall = kStall},
     // One of 1,000 writes takes five seconds longer.
     .write = {.floor_ms = 15,
               .median_ms = 15,
               .sigma = 0.6,
               .straggler = {},
               .stall = {.chance = 0.001, .min_ms = 5'000, .max_ms = 5'000}},
     .connection_median = 90 * kMegabyte,
     .connection_sigma = 0.18,
     .connection_least = 45 * kMegabyte,
     .connection_most = 110 * kMegabyte},
    {.name = "s3-express",
     .get = kExpressRead,
     .head = kExpressRead,
     .list = kExpressRead,
     .write = {.floor_ms = 3, .median_ms = 3, .sigma = 0.4, .straggler = {}, .stall = {}},
     .connection_median = 150 * kMegabyte,
     .connection_sigma = 0.15,
     .connection_least = 80 * kMegabyte,
     .connection_most = 200 * kMegabyte},
}};

double LogNormal(double median, double sigma, double first, double second) {
  return median * std::exp(sigma * Normal(first, second));
}

double Between(const Waiting::Late& late, double share) {
  return late.min_ms + share * (late.max_ms - late.min_ms);
}

}  // namespace

const Waiting& LatencyProfile::Of(Work work) const {
  switch (work) {
    case Work::kGet: return get;
    case Work::kHead: return head;
    case Work::kList: return list;
    case Work::kWrite: return write;
  }
  return get;
}

std::vector<std::string_view> ProfileNames() {
  std::vector<std::string_view> names;
  for (const LatencyProfile& profile : kProfiles) names.push_back(profile.name);
  return names;
}

Result<LatencyProfile> FindProfile(std::string_view name) {
  std::string known;
  for (const LatencyProfile& profile : kProfiles) {
    if (profile.name == name) return profile;
    known += (known.empty() ? "" : ", ") + std::string(profile.name);
  }
  return Error::Make(ErrorKind::kInvalidArgument, "unknown latency profile '" + std::string(name) +
                                                      "': expected one of " + known);
}

std::chrono::nanoseconds FirstByte(const Waiting& waiting, const Draw& draw) {
  double ms = waiting.floor_ms;
  if (waiting.median_ms > 0) ms += LogNormal(waiting.median_ms, waiting.sigma, draw[0], draw[1]);
  // draw[2] selects between on time, straggler and stall; draw[3] selects the delay.
  if (draw[2] < waiting.stall.chance) {
    ms += Between(waiting.stall, draw[3]);
  } else if (draw[2] < waiting.stall.chance + waiting.straggler.chance) {
    ms += Between(waiting.straggler, draw[3]);
  }
  return std::chrono::nanoseconds(std::llround(ms * 1e6));
}

std::uint64_t ConnectionRate(const LatencyProfile& profile, const Draw& draw) {
  if (profile.connection_median <= 0) return 0;
  const double rate =
      LogNormal(profile.connection_median, profile.connection_sigma, draw[0], draw[1]);
  return static_cast<std::uint64_t>(
      std::clamp(rate, profile.connection_least, profile.connection_most));
}

}  // namespace penstock::emulator::traffic
