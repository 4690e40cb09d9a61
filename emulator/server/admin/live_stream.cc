#include "emulator/server/admin/live_stream.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/dates.h"
#include "base/log/diagnostics.h"
#include "emulator/json/json_tree.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::server {
namespace {

constinit DiagnosticEvent live_failed("admin.live_failed");

void WriteTotals(Json& json, const EmulatorStats& stats) {
  AddCounters(json, stats);
  json["retries"] = stats.retries;
  Json& latency = json["latency"] = EmptyObject(1 + stats.durations.size());
  Json& bounds = latency["bounds_s"] = Json::array();
  for (const auto bound : RequestDurations::kUpperBounds) bounds.push_back(InSeconds(bound));
  for (const auto& [name, durations] : stats.durations) {
    Json& of_class = latency[name] = EmptyObject(2);
    Json& counts = of_class["counts"] = Json::array();
    for (const std::uint64_t count : durations.counts) counts.push_back(count);
    of_class["sum_s"] = InSeconds(durations.sum);
  }
}

Result<void> WriteNamespace(Json& json, const Emulator& emulator, const ActivityOf& activity_of,
                            const std::string& name_space) {
  PENSTOCK_ASSIGN(const ClockState state, emulator.GetClock(name_space));
  PENSTOCK_ASSIGN(const NamespaceActivity activity, activity_of(name_space));
  json = EmptyObject(6);
  json["name"] = name_space;
  Json& clock = json["clock"] = EmptyObject(4);
  clock["now"] = FormatIso8601(state.now);
  clock["frozen"] = state.frozen;
  clock["offset_seconds"] = InSeconds(state.offset);
  clock["rate"] = state.rate;
  Json& journal = json["journal"] = nullptr;
  // Without entries. An error: the namespace has no journal.
  const auto reading =
      emulator.AwaitJournal(name_space, kMaxExactInteger, std::chrono::milliseconds(0));
  if (reading.ok()) {
    journal = EmptyObject(2);
    journal["last"] = reading->last();
    journal["generation"] = reading->generation();
  }
  json["limits_active"] = activity.limits;
  json["faults_active"] = activity.faults;
  json["s3_port"] = emulator.options().port;
  return Ok();
}

class LiveStream final : public message::TextStream {
 public:
  LiveStream(const Emulator& emulator, ActivityOf activity_of, std::string name_space,
             std::chrono::milliseconds interval, std::shared_ptr<void> place)
      : emulator_(emulator),
        activity_of_(std::move(activity_of)),
        name_space_(std::move(name_space)),
        interval_(interval),
        place_(std::move(place)) {}

  std::optional<std::string> Next() noexcept override {
    try {
      Result<std::string> event = LiveEvent(emulator_, activity_of_, name_space_);
      if (event.ok()) return std::move(event).value();
    } catch (...) {
      live_failed.Report(CurrentExceptionError());
    }
    return std::nullopt;
  }
  std::chrono::nanoseconds interval() const override { return interval_; }

 private:
  const Emulator& emulator_;
  const ActivityOf activity_of_;
  const std::string name_space_;
  const std::chrono::milliseconds interval_;
  const std::shared_ptr<void> place_;
};

}  // namespace

Result<std::string> LiveEvent(const Emulator& emulator, const ActivityOf& activity_of,
                              const std::string& name_space) {
  PENSTOCK_ASSIGN(const EmulatorGauges gauges, emulator.gauges());
  PENSTOCK_ASSIGN(const std::vector<std::string> names, emulator.Namespaces());
  const WallTime now = SystemClock().Now();
  JsonTree tree(EmptyObject(18));
  Json& json = tree.root();
  json["time"] = FormatIso8601(now);
  json["started"] = InSeconds(gauges.started.time_since_epoch());
  json["version"] = PENSTOCK_VERSION;
  json["uptime_s"] = InSeconds(now - gauges.started);
  WriteTotals(json, emulator.stats());
  json["open_connections"] = gauges.open_connections;
  json["memory_used_bytes"] = gauges.memory_used_bytes;
  json["memory_limit_bytes"] = gauges.memory_limit_bytes;
  json["journal_bytes"] = gauges.journal_bytes;
  Json& namespaces = json["namespaces"] = Json::array();
  for (const std::string& name : names) namespaces.push_back(name);
  PENSTOCK_TRY(WriteNamespace(json["namespace"], emulator, activity_of, name_space));
  return "data: " + json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n\n";
}

std::unique_ptr<message::TextStream> MakeLiveStream(const Emulator& emulator,
                                                    ActivityOf activity_of, std::string name_space,
                                                    std::chrono::milliseconds interval,
                                                    std::shared_ptr<void> place) {
  return std::make_unique<LiveStream>(emulator, std::move(activity_of), std::move(name_space),
                                      interval, std::move(place));
}

}  // namespace penstock::emulator::server
