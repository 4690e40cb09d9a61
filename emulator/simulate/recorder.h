// Collects the report of a simulation in bounded memory. Interval lengths double when there are too
// many intervals.
#ifndef PENSTOCK_EMULATOR_SIMULATE_RECORDER_H_
#define PENSTOCK_EMULATOR_SIMULATE_RECORDER_H_

#include <map>

#include "emulator/simulate/simulation.h"

namespace penstock::emulator::simulate {

class Recorder {
 public:
  void Sent(Instant now, const traffic::Verdict& verdict, std::size_t partitions, bool retry);
  void GaveUp() { ++report_.gave_up; }
  void Moved(std::uint64_t bytes) { report_.bytes += bytes; }
  void AddRound(Round round) { report_.rounds.push_back(round); }
  Report Finish(Instant now, const traffic::PartitionModel& model);

  static constexpr std::size_t kMaxIntervals = 600;
  // The number of partitions whose traffic is recorded: the first ones to receive requests.
  static constexpr std::size_t kMaxFollowed = 256;
  static constexpr std::size_t kMaxSeries = 16;  // The busiest of them are reported.

 private:
  void Coarsen();
  Report report_{.interval = std::chrono::milliseconds(100)};
  std::map<std::uint32_t, PartitionSeries> followed_;
};

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_RECORDER_H_
