// How much traffic a bucket takes: the numbers S3 documents, by name, and what a user changed of
// them.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::traffic {

// What S3 counts against one limit: GET and HEAD, listings too, are reads; PUT, COPY, POST and
// DELETE are writes (protocol.md §7).
enum class Traffic { kRead, kWrite };

inline constexpr std::uint64_t kLargestRate = 4'000'000'000;  // a second
inline constexpr std::chrono::milliseconds kLongestBurst{1'000};
inline constexpr std::uint32_t kMostPartitions = 65'536;

// Of one partitioned prefix; of a whole directory bucket, which has no partitions.
struct Limits {
  std::uint64_t reads_per_second = 5'500;
  std::uint64_t writes_per_second = 3'500;
  // What a partition that was idle takes at once, as a share of a second's traffic.
  std::chrono::milliseconds burst{100};
  // A partition that was asked for more than it gives in every second of this time becomes two.
  // Zero: never.
  std::chrono::nanoseconds split_after = std::chrono::minutes(30);
  // Two neighbours that were each asked for less than an eighth of what one gives, for this time,
  // become one. Zero: never.
  std::chrono::nanoseconds merge_after = std::chrono::hours(6);
  std::uint32_t max_partitions = 4'096;

  std::uint64_t PerSecond(Traffic traffic) const {
    return traffic == Traffic::kRead ? reads_per_second : writes_per_second;
  }
  // Tokens of a full bucket, at least one.
  std::uint64_t Burst(Traffic traffic) const;

  bool operator==(const Limits&) const = default;
};

// "aws-standard": the documented figures. "aws-strict": a hundredth of them, and splits after 30 s,
// so that one machine can meet them. "aws-express": a directory bucket's. kInvalidArgument names
// what there is.
Result<Limits> PresetLimits(std::string_view name);
std::vector<std::string_view> PresetNames();

// kInvalidArgument names the field, its value and the range.
Result<void> CheckLimits(const Limits& limits);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_H_
