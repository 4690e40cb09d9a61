#include "emulator/traffic/limits/limits_document.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "emulator/json/json_fields.h"

namespace penstock::emulator::traffic {
namespace {

constexpr std::array<std::string_view, 6> kMembers{"reads_per_second", "writes_per_second",
                                                   "burst_ms",         "split_after_s",
                                                   "merge_after_s",    "max_partitions"};

// Rejects numbers that do not fit into 32 bits. CheckLimits rejects the others.
Result<std::optional<std::uint64_t>> Count(const JsonFields& fields, std::string_view name,
                                           std::uint64_t most) {
  PENSTOCK_ASSIGN(const std::optional<double> number, fields.Number(name));
  if (number && *number > std::numeric_limits<std::uint32_t>::max())
    return fields.Whole(name, most);
  return fields.Whole(name);
}

Result<void> ReadTime(const JsonFields& fields, std::string_view name,
                      std::chrono::nanoseconds& into) {
  PENSTOCK_ASSIGN(const std::optional<std::chrono::nanoseconds> value, fields.Seconds(name));
  if (value) into = *value;
  return Ok();
}

}  // namespace

bool HasLimits(const JsonFields& fields) {
  return std::any_of(kMembers.begin(), kMembers.end(),
                     [&fields](std::string_view name) { return fields.Has(name); });
}

Result<void> ReadLimits(const JsonFields& fields, Limits& limits) {
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> reads,
                  Count(fields, "reads_per_second", kLargestRate));
  if (reads) limits.reads_per_second = *reads;
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> writes,
                  Count(fields, "writes_per_second", kLargestRate));
  if (writes) limits.writes_per_second = *writes;
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> burst,
                  Count(fields, "burst_ms", static_cast<std::uint64_t>(kLongestBurst.count())));
  if (burst) limits.burst = std::chrono::milliseconds(*burst);
  PENSTOCK_TRY(ReadTime(fields, "split_after_s", limits.split_after));
  PENSTOCK_TRY(ReadTime(fields, "merge_after_s", limits.merge_after));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> partitions,
                  Count(fields, "max_partitions", kMaxPartitions));
  if (partitions) limits.max_partitions = static_cast<std::uint32_t>(*partitions);
  const auto checked = CheckLimits(limits);
  if (checked.ok()) return Ok();
  std::string place = fields.Place("");
  if (!place.empty()) place.pop_back();  // Drops the dot: the message begins with the member.
  return FieldError(place, checked.error().message);
}

}  // namespace penstock::emulator::traffic
