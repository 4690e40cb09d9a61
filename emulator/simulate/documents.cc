#include "emulator/simulate/documents.h"

#include <limits>
#include <optional>
#include <utility>

#include "emulator/json/json_fields.h"
#include "emulator/json/json_tree.h"
#include "emulator/traffic/limits/limits_document.h"
#include "penstock/simulate.h"

namespace penstock::emulator::simulate {
namespace {

// Reads an optional member. Rejects numbers that do not fit into `into`.
template <class Number>
Result<void> Whole(const JsonFields& fields, std::string_view name, Number& into) {
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> value, fields.Whole(name));
  if (!value) return Ok();
  if (*value > std::numeric_limits<Number>::max()) {
    return fields.OutOfRange(name, "at most " + std::to_string(std::numeric_limits<Number>::max()));
  }
  into = static_cast<Number>(*value);
  return Ok();
}

Result<void> Seconds(const JsonFields& fields, std::string_view name,
                     std::chrono::nanoseconds& into) {
  PENSTOCK_ASSIGN(const std::optional<std::chrono::nanoseconds> value, fields.Seconds(name));
  if (value) into = *value;
  return Ok();
}

// Looks up the name in a member with `find`. `otherwise`: the name if the member is absent.
template <class Find>
auto Named(const JsonFields& fields, std::string_view name, std::string_view otherwise, Find find)
    -> decltype(find("")) {
  PENSTOCK_ASSIGN(const std::optional<std::string> text, fields.Text(name));
  auto found = find(text ? std::string_view(*text) : otherwise);
  if (!found.ok()) return FieldError(fields.Place(name), found.error().message);
  return found;
}

Result<void> ReadNaming(const JsonFields& fields, Naming& naming) {
  PENSTOCK_ASSIGN(naming.strategy, Named(fields, "strategy", "default", FindStrategy));
  if (fields.Has("epoch")) {
    std::uint64_t epoch = 0;
    PENSTOCK_TRY(Whole(fields, "epoch", epoch));
    naming.epoch = static_cast<std::int64_t>(epoch);
  }
  PENSTOCK_TRY(Whole(fields, "min_prefix_length", naming.min_prefix_length));
  if (fields.Has("prefix_count")) {
    naming.prefix_count = 0;
    PENSTOCK_TRY(Whole(fields, "prefix_count", *naming.prefix_count));
  }
  PENSTOCK_ASSIGN(const Json* prefixes, fields.List("prefixes"));
  if (prefixes == nullptr) return Ok();
  for (const Json& prefix : *prefixes) {
    if (!prefix.is_string())
      return FieldError(fields.Place("prefixes"), "must be a list of strings");
    naming.user_prefixes.push_back(prefix.get<std::string>());
  }
  return Ok();
}

Json Rounds(const Report& report) {
  Json rounds = Json::array();
  for (const Round& round : report.rounds) {
    rounds.push_back({{"began_s", InSeconds(round.began)},
                      {"ended_s", InSeconds(round.ended)},
                      {"lasted_s", InSeconds(round.ended - round.began)},
                      {"completed", round.committed},
                      {"ranks_failed", round.ranks_failed},
                      {"median_rank_s", InSeconds(round.median_rank)},
                      {"slowest_rank_s", InSeconds(round.slowest_rank)}});
  }
  return rounds;
}

Json Events(const Report& report) {
  Json events = Json::array();
  for (const traffic::PartitionEvent& event : report.events) {
    events.push_back(
        {{"at_s", InSeconds(event.at)},
         {"kind", event.kind == traffic::PartitionEvent::Kind::kSplit ? "split" : "merge"},
         {"boundary", event.boundary},
         {"whole", event.whole},
         {"left", event.left},
         {"right", event.right}});
  }
  return events;
}

}  // namespace

Result<Job> ParseJob(std::string_view json, const SimulateOptions& limits) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(json));
  const Json& parsed = tree.root();
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(parsed, "",
                                                            {"operation",
                                                             "ranks",
                                                             "files_per_rank",
                                                             "file_bytes",
                                                             "part_bytes",
                                                             "connections_per_rank",
                                                             "rounds",
                                                             "round_every_s",
                                                             "start_spread_s",
                                                             "path",
                                                             "strategy",
                                                             "epoch",
                                                             "min_prefix_length",
                                                             "prefix_count",
                                                             "prefixes",
                                                             "limits",
                                                             "reads_per_second",
                                                             "writes_per_second",
                                                             "burst_ms",
                                                             "split_after_s",
                                                             "merge_after_s",
                                                             "max_partitions",
                                                             "warm_partitions",
                                                             "latency",
                                                             "client",
                                                             "rank_bytes_per_second",
                                                             "seed",
                                                             "deadline_s"}));
  Job job;
  PENSTOCK_ASSIGN(job.operation, Named(fields, "operation", "save", FindOperation));
  PENSTOCK_TRY(Whole(fields, "ranks", job.ranks));
  PENSTOCK_TRY(Whole(fields, "files_per_rank", job.files_per_rank));
  PENSTOCK_TRY(Whole(fields, "file_bytes", job.file_bytes));
  PENSTOCK_TRY(Whole(fields, "part_bytes", job.part_bytes));
  PENSTOCK_TRY(Whole(fields, "connections_per_rank", job.connections_per_rank));
  PENSTOCK_TRY(Whole(fields, "rounds", job.rounds));
  PENSTOCK_TRY(Seconds(fields, "round_every_s", job.round_every));
  PENSTOCK_TRY(Seconds(fields, "start_spread_s", job.start_spread));
  PENSTOCK_ASSIGN(const std::optional<std::string> path, fields.Text("path"));
  PENSTOCK_TRY(ReadNaming(fields, job.naming));
  // The prefix strategies replace the directory of a step, and their epoch replaces its number.
  if (job.naming.strategy != Strategy::kDefault) job.path = "checkpoint";
  if (path) job.path = *path;
  PENSTOCK_ASSIGN(job.limits, Named(fields, "limits", "aws-standard", traffic::PresetLimits));
  PENSTOCK_TRY(traffic::ReadLimits(fields, job.limits));
  PENSTOCK_TRY(Whole(fields, "warm_partitions", job.warm_partitions));
  PENSTOCK_ASSIGN(job.latency, Named(fields, "latency", "s3-standard", traffic::FindProfile));
  PENSTOCK_ASSIGN(job.client, Named(fields, "client", "standard", FindPolicy));
  PENSTOCK_TRY(Whole(fields, "rank_bytes_per_second", job.rank_bytes_per_second));
  PENSTOCK_TRY(Whole(fields, "seed", job.seed));
  PENSTOCK_TRY(Seconds(fields, "deadline_s", job.deadline));
  PENSTOCK_TRY(CheckJob(job, limits));
  return job;
}

std::string ReportJson(const Job& job, const Report& report) {
  Json intervals = Json::array();
  for (const Interval& interval : report.intervals) {
    intervals.push_back({{"requests", interval.requests},
                         {"refused", interval.refused},
                         {"partitions", interval.partitions}});
  }
  Json partitions = Json::array();
  for (const PartitionSeries& series : report.partitions) {
    partitions.push_back(
        {{"id", series.id}, {"begin", series.begin}, {"requests", series.requests}});
  }
  const Json document = {{"operation", OperationName(job.operation)},
                         {"ranks", job.ranks},
                         {"strategy", StrategyName(job.naming.strategy)},
                         {"client", job.client.name},
                         {"latency", job.latency.name},
                         {"seed", job.seed},
                         {"ended_s", InSeconds(report.ended)},
                         {"requests", report.requests},
                         {"refused", report.refused},
                         {"retries", report.retries},
                         {"gave_up", report.gave_up},
                         {"bytes", report.bytes},
                         {"rounds", Rounds(report)},
                         {"interval_s", InSeconds(report.interval)},
                         {"intervals", std::move(intervals)},
                         {"partitions", std::move(partitions)},
                         {"events", Events(report)}};
  // Paths and prefixes may contain any bytes.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::emulator::simulate

namespace penstock::emulator {

Result<std::string> SimulateJson(std::string_view job_json, const SimulateOptions& options) {
  PENSTOCK_ASSIGN(const simulate::Job job, simulate::ParseJob(job_json, options));
  PENSTOCK_ASSIGN(const simulate::Report report, simulate::Simulate(job, options));
  return simulate::ReportJson(job, report);
}

}  // namespace penstock::emulator
