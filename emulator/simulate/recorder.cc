#include "emulator/simulate/recorder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace penstock::emulator::simulate {
namespace {

std::uint64_t Sum(const PartitionSeries& series) {
  return std::accumulate(series.requests.begin(), series.requests.end(), std::uint64_t{0});
}

}  // namespace

void Recorder::Sent(Instant now, const traffic::Verdict& verdict, std::size_t partitions,
                    bool retry) {
  while (static_cast<std::size_t>(now / report_.interval) >= kMaxIntervals) Coarsen();
  const auto at = static_cast<std::size_t>(now / report_.interval);
  // Intervals without requests keep the partition count of the previous one.
  if (at >= report_.intervals.size()) {
    report_.intervals.resize(
        at + 1,
        {.partitions = report_.intervals.empty() ? 1 : report_.intervals.back().partitions});
  }
  Interval& interval = report_.intervals[at];
  interval.partitions = static_cast<std::uint32_t>(partitions);
  ++interval.requests;
  ++report_.requests;
  report_.retries += retry ? 1 : 0;
  report_.refused += verdict.admitted ? 0 : 1;
  interval.refused += verdict.admitted ? 0 : 1;
  auto followed = followed_.find(verdict.partition);
  if (followed == followed_.end()) {
    if (followed_.size() == kMaxFollowed) return;
    followed = followed_
                   .emplace(verdict.partition, PartitionSeries{.id = verdict.partition,
                                                               .begin = std::string(verdict.begin)})
                   .first;
  }
  std::vector<std::uint64_t>& series = followed->second.requests;
  if (series.size() <= at) series.resize(at + 1);
  ++series[at];
}

void Recorder::Coarsen() {
  report_.interval *= 2;
  std::vector<Interval>& intervals = report_.intervals;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const Interval from = std::exchange(intervals[i], Interval{});
    intervals[i / 2].requests += from.requests;
    intervals[i / 2].refused += from.refused;
    intervals[i / 2].partitions = from.partitions;
  }
  intervals.resize((intervals.size() + 1) / 2);
  for (auto& [id, series] : followed_) {
    std::vector<std::uint64_t>& counts = series.requests;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t from = std::exchange(counts[i], 0);
      counts[i / 2] += from;
    }
    counts.resize((counts.size() + 1) / 2);
  }
}

Report Recorder::Finish(Instant now, const traffic::PartitionModel& model) {
  report_.ended = now;
  report_.events.assign(model.events().begin(), model.events().end());
  for (auto& [id, series] : followed_) {
    series.requests.resize(report_.intervals.size());
    report_.partitions.push_back(std::move(series));
  }
  std::stable_sort(
      report_.partitions.begin(), report_.partitions.end(),
      [](const PartitionSeries& a, const PartitionSeries& b) { return Sum(a) > Sum(b); });
  if (report_.partitions.size() > kMaxSeries) report_.partitions.resize(kMaxSeries);
  return std::move(report_);
}

}  // namespace penstock::emulator::simulate
