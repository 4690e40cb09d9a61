#include "emulator/traffic/limits/limits.h"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::emulator::traffic {
namespace {

using std::chrono::seconds;

const std::array<std::pair<std::string_view, Limits>, 3>& Presets() {
  static const std::array<std::pair<std::string_view, Limits>, 3> presets{{
      {"aws-standard", Limits{}},
      {"aws-strict", Limits{.reads_per_second = 55,
                            .writes_per_second = 35,
                            .split_after = seconds(30),
                            .merge_after = seconds(120)}},
      {"aws-express", Limits{.reads_per_second = 2'000'000,
                             .writes_per_second = 200'000,
                             .split_after = {},
                             .merge_after = {},
                             .max_partitions = 1}},
  }};
  return presets;
}

Error OutOfRange(std::string_view field, std::uint64_t value, std::string_view range) {
  return Error::Make(
      ErrorKind::kInvalidArgument,
      std::string(field) + " must be " + std::string(range) + ", not " + std::to_string(value));
}

}  // namespace

std::uint64_t Limits::Burst(Traffic traffic) const {
  const auto share = static_cast<std::uint64_t>(burst.count());
  return std::max<std::uint64_t>(1, PerSecond(traffic) * share / 1'000);
}

std::vector<std::string_view> PresetNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, limits] : Presets()) names.push_back(name);
  return names;
}

Result<Limits> PresetLimits(std::string_view name) {
  std::string known;
  for (const auto& [preset, limits] : Presets()) {
    if (preset == name) return limits;
    known += (known.empty() ? "" : ", ") + std::string(preset);
  }
  return Error::Make(ErrorKind::kInvalidArgument,
                     "unknown preset '" + std::string(name) + "': expected one of " + known);
}

Result<void> CheckLimits(const Limits& limits) {
  for (const auto& [field, value] :
       {std::pair<std::string_view, std::uint64_t>{"reads_per_second", limits.reads_per_second},
        {"writes_per_second", limits.writes_per_second}}) {
    if (value < 1 || value > kLargestRate)
      return OutOfRange(field, value, "1 to 4000000000 requests a second");
  }
  if (limits.burst.count() < 0 || limits.burst > kLongestBurst) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        "burst_ms must be 0 to 1000 milliseconds, not " + std::to_string(limits.burst.count()));
  }
  if (limits.split_after.count() < 0 || limits.merge_after.count() < 0) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "split_after and merge_after must not be negative; 0 turns them off");
  }
  if (limits.max_partitions < 1 || limits.max_partitions > kMaxPartitions) {
    return OutOfRange("max_partitions", limits.max_partitions, "1 to 65536");
  }
  return Ok();
}

}  // namespace penstock::emulator::traffic
