// The settings of limits, latency and bandwidth of a namespace. There is one JSON form
// (docs/limits.schema.json).
#ifndef PENSTOCK_EMULATOR_TRAFFIC_THROTTLE_SETTINGS_H_
#define PENSTOCK_EMULATOR_TRAFFIC_THROTTLE_SETTINGS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/traffic/latency_profile.h"
#include "emulator/traffic/limits/limits.h"
#include "penstock/base/result.h"

namespace penstock::emulator::traffic {

// Whether `name` has the form of a directory bucket's name.
bool IsDirectoryBucket(std::string_view name);

// Start keys of partitions that all buckets of one document may have together.
inline constexpr std::size_t kMaxBoundaries = 65'536;

struct ThrottleSettings {
  struct Bucket {
    Limits limits;
    std::vector<std::string> boundaries;  // Start keys of its initial partitions.
  };
  std::optional<Limits> general;    // For each general purpose bucket. Unset: no limits.
  std::optional<Limits> directory;  // For each directory bucket.
  std::map<std::string, Bucket, std::less<>> buckets;    // Buckets with their own limits.
  LatencyProfile latency;                                // All zero: no delay.
  bool shaped = false;                                   // `latency` has a non-zero value.
  std::uint64_t seed = 1;                                // For draws from `latency`.
  std::optional<std::chrono::milliseconds> retry_after;  // x-amz-retry-after of rejections.
  std::string document = "{}";                           // The JSON that was parsed.
  // For its memory, while a copy of it exists. Null: not charged.
  std::shared_ptr<const void> charge;

  // No limits and no latency.
  bool idle() const { return !general && !directory && buckets.empty() && !shaped; }
  // Returns nullptr if the bucket has no limits.
  const Limits* LimitsOf(std::string_view bucket) const;
  // Upper bounds of the memory of the settings themselves, and of the initial partitions of a
  // ThrottleState with them.
  std::uint64_t SettingsBytes() const;
  std::uint64_t PartitionBytes() const;
};

// `text`: a JSON object, or the name of a preset, plain or as a JSON string. Returns
// kInvalidArgument that names the member.
Result<ThrottleSettings> ParseThrottleSettings(std::string_view text);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_THROTTLE_SETTINGS_H_
