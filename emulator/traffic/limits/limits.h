// The request rates of a bucket: the figures that S3 documents, by preset name, and user changes to
// them.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_LIMITS_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_LIMITS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::traffic {

// The two kinds of requests that S3 limits separately. GET, HEAD and listings are reads; PUT, COPY,
// POST and DELETE are writes (Amazon S3 User Guide, "Best practices design patterns: optimizing
// Amazon S3 performance").
enum class Traffic { kRead, kWrite };

inline constexpr std::uint64_t kLargestRate = 4'000'000'000;  // Per second.
inline constexpr std::chrono::milliseconds kLongestBurst{1'000};
inline constexpr std::uint32_t kMaxPartitions = 65'536;

// The limits of one partitioned prefix, or of a whole directory bucket, which has no partitions.
struct Limits {
  std::uint64_t reads_per_second = 5'500;
  std::uint64_t writes_per_second = 3'500;
  // The burst of an idle partition, as the time in which its rate yields as many requests.
  std::chrono::milliseconds burst{100};
  // A partition whose requests exceed its rate in every second of this time is split in two. Zero:
  // never.
  std::chrono::nanoseconds split_after = std::chrono::minutes(30);
  // Two adjacent partitions that each receive less than an eighth of their rate for this time are
  // merged. Zero: never.
  std::chrono::nanoseconds merge_after = std::chrono::hours(6);
  std::uint32_t max_partitions = 4'096;

  std::uint64_t PerSecond(Traffic traffic) const {
    return traffic == Traffic::kRead ? reads_per_second : writes_per_second;
  }
  // Tokens of a full token bucket, at least one.
  std::uint64_t Burst(Traffic traffic) const;

  bool operator==(const Limits&) const = default;
};

// Finds a preset by name. "aws-standard": the documented figures. "aws-strict": one hundredth of
// them, and splits after 30 s, so that one machine can reach the limits. "aws-express": the figures
// of a directory bucket. Returns kInvalidArgument that lists the names.
Result<Limits> PresetLimits(std::string_view name);
std::vector<std::string_view> PresetNames();

// Returns kInvalidArgument that names the field, its value and the range.
Result<void> CheckLimits(const Limits& limits);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_LIMITS_H_
