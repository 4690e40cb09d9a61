#include "emulator/traffic/limits_report.h"

#include "base/dates.h"
#include "emulator/json/json_fields.h"

namespace penstock::emulator::traffic {
namespace {

double InSeconds(std::chrono::nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

Json Side(const PartitionGauge::Side& side) {
  return {{"tokens", side.tokens},
          {"admitted", side.admitted},
          {"refused", side.refused},
          {"last_second", side.last_second}};
}

Json LimitsJson(const Limits& limits) {
  return {{"reads_per_second", limits.reads_per_second},
          {"writes_per_second", limits.writes_per_second},
          {"burst_ms", limits.burst.count()},
          {"split_after_s", InSeconds(limits.split_after)},
          {"merge_after_s", InSeconds(limits.merge_after)},
          {"max_partitions", limits.max_partitions}};
}

Json BucketJson(const BucketReport& bucket) {
  Json partitions = Json::array();
  for (const PartitionGauge& gauge : bucket.partitions) {
    partitions.push_back({{"id", gauge.id},
                          {"begin", gauge.begin},
                          {"end", gauge.end},
                          {"reads", Side(gauge.reads)},
                          {"writes", Side(gauge.writes)}});
  }
  Json events = Json::array();
  for (const BucketReport::Event& event : bucket.events) {
    events.push_back({{"at", FormatIso8601(event.at)},
                      {"kind", event.what.kind == PartitionEvent::Kind::kSplit ? "split" : "merge"},
                      {"boundary", event.what.boundary},
                      {"whole", event.what.whole},
                      {"left", event.what.left},
                      {"right", event.what.right}});
  }
  return {{"name", bucket.name},
          {"limits", LimitsJson(bucket.limits)},
          {"admitted", bucket.admitted},
          {"refused", bucket.refused},
          {"partitions", std::move(partitions)},
          {"events", std::move(events)}};
}

}  // namespace

std::string LimitsReportJson(std::string_view name_space, const ThrottleReport& report) {
  Json buckets = Json::array();
  for (const BucketReport& bucket : report.buckets) buckets.push_back(BucketJson(bucket));
  const Json document = {{"namespace", name_space},
                         {"limits", Json::parse(report.document)},
                         {"admitted", report.admitted},
                         {"refused", report.refused},
                         {"buckets", std::move(buckets)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::emulator::traffic
