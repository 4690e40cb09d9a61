#include "emulator/traffic/throttle_settings.h"

#include <algorithm>
#include <utility>

#include "emulator/json/json_fields.h"
#include "emulator/json/json_tree.h"
#include "emulator/traffic/limits/limits_document.h"

namespace penstock::emulator::traffic {
namespace {

constexpr std::size_t kMaxBuckets = 1'000;
constexpr double kLongestFirstByteMs = 60'000;
constexpr std::uint64_t kFastestConnection = 1'000'000'000'000;
constexpr std::uint64_t kLongestRetryAfterMs = 60'000;

// Measured, without the bytes of keys and names.
constexpr std::uint64_t kBytesOfBoundary = 64;
constexpr std::uint64_t kBytesOfBucket = 512;
constexpr std::uint64_t kBytesOfPartition = 352;
constexpr std::uint64_t kBytesOfPartitions = 2'048;  // of one bucket

// Returns the limits of the preset member, or `otherwise` if there is none.
Result<Limits> ReadPreset(const JsonFields& fields, std::string_view preset_member,
                          Limits otherwise) {
  PENSTOCK_ASSIGN(const std::optional<std::string> preset, fields.Text(preset_member));
  if (!preset) return otherwise;
  auto found = PresetLimits(*preset);
  if (!found.ok()) return FieldError(fields.Place(preset_member), found.error().message);
  return found;
}

Limits Documented(bool directory) {
  return PresetLimits(directory ? "aws-express" : "aws-standard").value();
}

Result<void> ReadBoundaries(const JsonFields& fields, const Limits& limits,
                            std::vector<std::string>& boundaries) {
  PENSTOCK_ASSIGN(const Json* list, fields.List("boundaries"));
  if (list == nullptr) return Ok();
  boundaries.reserve(list->size());
  for (const Json& boundary : *list) {
    if (!boundary.is_string() || boundary.get_ref<const std::string&>().empty()) {
      return FieldError(fields.Place("boundaries"), "must be a list of non-empty key prefixes");
    }
    boundaries.push_back(boundary.get<std::string>());
  }
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  if (boundaries.size() < limits.max_partitions) return Ok();
  return FieldError(fields.Place("boundaries"), "has " + std::to_string(boundaries.size()) +
                                                    " keys, which make " +
                                                    std::to_string(boundaries.size() + 1) +
                                                    " partitions, and max_partitions is " +
                                                    std::to_string(limits.max_partitions));
}

// Before any is copied.
Result<void> CheckBoundaryCount(const Json& buckets, const std::string& place) {
  std::size_t count = 0;
  for (const Json& bucket : buckets) {
    if (!bucket.is_object()) continue;
    const auto boundaries = bucket.find("boundaries");
    if (boundaries != bucket.end() && boundaries->is_array()) count += boundaries->size();
  }
  if (count <= kMaxBoundaries) return Ok();
  return FieldError(place, "have " + std::to_string(count) +
                               " boundaries together, and the limit is " +
                               std::to_string(kMaxBoundaries) +
                               "; give fewer boundaries, or limit fewer buckets");
}

Result<void> ReadBuckets(const JsonFields& top, ThrottleSettings& settings) {
  const Json* const buckets = top.Find("buckets");
  if (buckets == nullptr) return Ok();
  if (!buckets->is_object())
    return FieldError(top.Place("buckets"), "must be an object that maps bucket names to limits");
  if (buckets->size() > kMaxBuckets) {
    return FieldError(top.Place("buckets"),
                      "has " + std::to_string(buckets->size()) + " members, and the limit is 1000");
  }
  PENSTOCK_TRY(CheckBoundaryCount(*buckets, top.Place("buckets")));
  for (const auto& [name, json] : buckets->items()) {
    PENSTOCK_ASSIGN(
        const JsonFields fields,
        JsonFields::Read(json, top.Place("buckets") + "." + name,
                         {"preset", "reads_per_second", "writes_per_second", "burst_ms",
                          "split_after_s", "merge_after_s", "max_partitions", "boundaries"}));
    const bool directory = IsDirectoryBucket(name);
    const auto& of_its_type = directory ? settings.directory : settings.general;
    ThrottleSettings::Bucket bucket;
    PENSTOCK_ASSIGN(bucket.limits,
                    ReadPreset(fields, "preset", of_its_type.value_or(Documented(directory))));
    PENSTOCK_TRY(ReadLimits(fields, bucket.limits));
    PENSTOCK_TRY(ReadBoundaries(fields, bucket.limits, bucket.boundaries));
    settings.buckets.emplace(name, std::move(bucket));
  }
  return Ok();
}

// Constant values for every request and every connection.
Result<LatencyProfile> ReadConstants(const Json& json, std::string place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, std::move(place), {"first_byte_ms", "bytes_per_second"}));
  PENSTOCK_ASSIGN(const std::optional<double> wait, fields.Number("first_byte_ms"));
  if (wait && !(*wait >= 0 && *wait <= kLongestFirstByteMs)) {
    return fields.OutOfRange("first_byte_ms", "0 to 60000 milliseconds");
  }
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> rate, fields.Whole("bytes_per_second"));
  if (rate && (*rate < 1 || *rate > kFastestConnection)) {
    return fields.OutOfRange("bytes_per_second", "1 to 1000000000000");
  }
  LatencyProfile profile{.name = "constant"};
  for (Waiting* waiting : {&profile.get, &profile.head, &profile.list, &profile.write})
    waiting->floor_ms = wait.value_or(0);
  profile.connection_median = profile.connection_least = profile.connection_most =
      static_cast<double>(rate.value_or(0));
  return profile;
}

Result<void> ReadLatency(const JsonFields& fields, ThrottleSettings& settings) {
  const Json* const latency = fields.Find("latency");
  if (latency == nullptr) return Ok();
  if (latency->is_object()) {
    PENSTOCK_ASSIGN(settings.latency, ReadConstants(*latency, fields.Place("latency")));
  } else if (latency->is_string()) {
    auto found = FindProfile(latency->get<std::string>());
    if (!found.ok()) return FieldError(fields.Place("latency"), found.error().message);
    settings.latency = *found;
  } else {
    return FieldError(
        fields.Place("latency"),
        R"(must be the name of a profile or an object such as {"first_byte_ms": 30})");
  }
  const LatencyProfile& profile = settings.latency;
  settings.shaped = profile.connection_median > 0;
  for (const Waiting* waiting : {&profile.get, &profile.head, &profile.list, &profile.write}) {
    settings.shaped = settings.shaped || waiting->floor_ms > 0 || waiting->median_ms > 0;
  }
  return Ok();
}

Result<void> ReadPresets(const JsonFields& fields, ThrottleSettings& settings) {
  if (fields.Has("preset") || HasLimits(fields)) {
    PENSTOCK_ASSIGN(settings.general, ReadPreset(fields, "preset", Documented(false)));
    PENSTOCK_TRY(ReadLimits(fields, *settings.general));
  }
  // If general purpose buckets have limits, so have directory buckets.
  if (fields.Has("directory_preset") || settings.general) {
    PENSTOCK_ASSIGN(settings.directory, ReadPreset(fields, "directory_preset", Documented(true)));
  }
  return Ok();
}

}  // namespace

bool IsDirectoryBucket(std::string_view name) { return name.ends_with("--x-s3"); }

const Limits* ThrottleSettings::LimitsOf(std::string_view bucket) const {
  if (const auto own = buckets.find(bucket); own != buckets.end()) return &own->second.limits;
  const auto& of_its_type = IsDirectoryBucket(bucket) ? directory : general;
  return of_its_type ? &*of_its_type : nullptr;
}

std::uint64_t ThrottleSettings::SettingsBytes() const {
  std::uint64_t bytes = document.size();
  for (const auto& [name, bucket] : buckets) {
    bytes += kBytesOfBucket + name.size();
    for (const std::string& boundary : bucket.boundaries)
      bytes += kBytesOfBoundary + boundary.size();
  }
  return bytes;
}

std::uint64_t ThrottleSettings::PartitionBytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, bucket] : buckets) {
    bytes += kBytesOfPartitions + name.size();
    for (const std::string& boundary : bucket.boundaries)
      bytes += kBytesOfPartition + boundary.size();
  }
  return bytes;
}

Result<ThrottleSettings> ParseThrottleSettings(std::string_view text) {
  const bool is_name = PresetLimits(text).ok();
  PENSTOCK_ASSIGN(JsonTree parsed,
                  is_name ? Result<JsonTree>(JsonTree(Json(text))) : ParseJsonTree(text));
  // a preset's name stands for {"preset": NAME}
  if (Json& root = parsed.root(); root.is_string()) {
    std::string name = std::move(root.get_ref<std::string&>());
    root = Json::object();
    root["preset"] = std::move(name);
  }
  const Json& json = parsed.root();
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, "",
                       {"preset", "directory_preset", "reads_per_second", "writes_per_second",
                        "burst_ms", "split_after_s", "merge_after_s", "max_partitions", "buckets",
                        "latency", "seed", "retry_after_ms"}));
  ThrottleSettings settings;
  PENSTOCK_TRY(ReadPresets(fields, settings));
  PENSTOCK_TRY(ReadBuckets(fields, settings));
  PENSTOCK_TRY(ReadLatency(fields, settings));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> seed, fields.Whole("seed"));
  settings.seed = seed.value_or(settings.seed);
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> retry_after, fields.Whole("retry_after_ms"));
  if (retry_after && *retry_after > kLongestRetryAfterMs)
    return fields.OutOfRange("retry_after_ms", "0 to 60000");
  if (retry_after) settings.retry_after = std::chrono::milliseconds(*retry_after);
  settings.document = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return settings;
}

}  // namespace penstock::emulator::traffic
