// What a namespace is told of limits, latency and bandwidth: one JSON form
// (docs/limits.schema.json).
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_THROTTLE_SETTINGS_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_THROTTLE_SETTINGS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/traffic/latency_profile.h"
#include "emulator/traffic/limits.h"
#include "penstock/base/result.h"

namespace penstock::emulator::instruments {

// Directory buckets have a name of their own form.
bool IsDirectoryBucket(std::string_view name);

struct ThrottleSettings {
  struct Bucket {
    traffic::Limits limits;
    std::vector<std::string> boundaries;  // partitions that it has from the beginning
  };
  std::optional<traffic::Limits> general;    // of each general-purpose bucket; unset: no limits
  std::optional<traffic::Limits> directory;  // of each directory bucket
  std::map<std::string, Bucket, std::less<>> buckets;    // those that have their own
  traffic::LatencyProfile latency;                       // of zeros: answers leave at once
  bool shaped = false;                                   // latency has something that is not zero
  std::uint64_t seed = 1;                                // of what is drawn from `latency`
  std::optional<std::chrono::milliseconds> retry_after;  // of refusals: x-amz-retry-after
  std::string document = "{}";                           // what they were read from

  // Nothing is limited, nothing waits.
  bool idle() const { return !general && !directory && buckets.empty() && !shaped; }
  // nullptr: it has no limits.
  const traffic::Limits* LimitsOf(std::string_view bucket) const;
};

// `text`: a JSON object, or a preset's name alone, as a JSON string too. kInvalidArgument names the
// member.
Result<ThrottleSettings> ParseThrottleSettings(std::string_view text);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_THROTTLE_SETTINGS_H_
