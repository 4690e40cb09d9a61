#include "emulator/traffic/limits_report.h"

#include <chrono>
#include <cstdint>

#include "base/dates.h"
#include "emulator/json/json_fields.h"
#include "emulator/json/json_tree.h"

namespace penstock::emulator::traffic {
namespace {

std::string Quoted(const Json& text) {
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AppendMember(std::string& text, std::string_view name, std::uint64_t value) {
  text.append(text.back() == '{' ? "\"" : ",\"").append(name).append("\":");
  text += std::to_string(value);
}

void AppendSide(std::string& text, std::string_view name, const PartitionGauge::Side& side) {
  text.append(",\"").append(name).append("\":{");
  AppendMember(text, "tokens", side.tokens);
  AppendMember(text, "admitted", side.admitted);
  AppendMember(text, "refused", side.refused);
  AppendMember(text, "last_second", side.last_second);
  text += '}';
}

// Without a tree: a bucket may have 65,536 partitions.
void AppendPartitions(std::string& text, const std::vector<PartitionGauge>& partitions) {
  text += '[';
  std::string end;
  for (const PartitionGauge& gauge : partitions) {
    const bool first = &gauge == &partitions.front();
    text += first ? "{" : ",{";
    AppendMember(text, "id", gauge.id);
    text += ",\"begin\":" + (first ? Quoted(gauge.begin) : end);  // where the previous one ends
    end = Quoted(gauge.end);
    text += ",\"end\":" + end;
    AppendSide(text, "reads", gauge.reads);
    AppendSide(text, "writes", gauge.writes);
    text += '}';
  }
  text += ']';
}

Json LimitsJson(const Limits& limits) {
  return {{"reads_per_second", limits.reads_per_second},
          {"writes_per_second", limits.writes_per_second},
          {"burst_ms", limits.burst.count()},
          {"split_after_s", InSeconds(limits.split_after)},
          {"merge_after_s", InSeconds(limits.merge_after)},
          {"max_partitions", limits.max_partitions}};
}

Json EventsJson(const std::vector<BucketReport::Event>& all) {
  Json events = Json::array();
  for (const BucketReport::Event& event : all) {
    events.push_back({{"at", FormatIso8601(event.at)},
                      {"kind", event.what.kind == PartitionEvent::Kind::kSplit ? "split" : "merge"},
                      {"boundary", event.what.boundary},
                      {"whole", event.what.whole},
                      {"left", event.what.left},
                      {"right", event.what.right}});
  }
  return events;
}

void AppendBucket(std::string& text, const BucketReport& bucket) {
  text += "{\"name\":" + Quoted(bucket.name) + ",\"limits\":" + LimitsJson(bucket.limits).dump();
  AppendMember(text, "admitted", bucket.admitted);
  AppendMember(text, "refused", bucket.refused);
  text += ",\"partitions\":";
  AppendPartitions(text, bucket.partitions);
  text += ",\"events\":" + Quoted(EventsJson(bucket.events)) + "}";
}

}  // namespace

Result<std::string> LimitsReportJson(std::string_view name_space, const ThrottleReport& report,
                                     const std::atomic<bool>* stop) {
  std::string text = "{\"namespace\":" + Quoted(name_space) + ",\"limits\":" + report.document;
  AppendMember(text, "admitted", report.admitted);
  AppendMember(text, "refused", report.refused);
  text += ",\"buckets\":[";
  for (const BucketReport& bucket : report.buckets) {
    if (stop != nullptr && *stop) break;
    if (&bucket != &report.buckets.front()) text += ',';
    AppendBucket(text, bucket);
  }
  if (stop != nullptr && *stop) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the emulator is stopping; read the limits after a restart");
  }
  text += "]}";
  return text;
}

}  // namespace penstock::emulator::traffic
