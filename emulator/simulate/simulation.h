// Runs a job against the partition model in virtual time: no sockets, no sleeping, the same result
// for the same job.
#ifndef PENSTOCK_EMULATOR_SIMULATE_SIMULATION_H_
#define PENSTOCK_EMULATOR_SIMULATE_SIMULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/simulate/job.h"
#include "emulator/traffic/partition_model.h"

namespace penstock::emulator::simulate {

struct Round {
  Instant began{};
  Instant ended{};
  // save: ".metadata" is there. load, list: every rank has all it asked for
  bool committed = false;
  std::uint32_t ranks_failed = 0;
  // Since the round began, of the ranks that did not fail; zero where all did.
  Instant median_rank{};
  Instant slowest_rank{};
};

// What happened within one interval of Report::interval.
struct Interval {
  std::uint64_t requests = 0;    // sent, whatever became of them
  std::uint64_t refused = 0;     // 503
  std::uint32_t partitions = 0;  // at its end
};

struct PartitionSeries {
  std::uint32_t id = 0;
  std::string begin;                    // its first key
  std::vector<std::uint64_t> requests;  // by interval
};

struct Report {
  std::vector<Round> rounds;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::uint64_t retries = 0;
  std::uint64_t gave_up = 0;  // requests that their client did not try again
  std::uint64_t bytes = 0;    // of bodies, sent or received in full
  Instant ended{};            // the whole job
  Instant interval{};         // length of one
  std::vector<Interval> intervals;
  // The busiest partitions; the rest of the traffic is in none of them.
  std::vector<PartitionSeries> partitions;
  std::vector<traffic::PartitionEvent> events;  // the latest splits and merges
};

// CheckJob's errors. Takes about 1 us a request.
Result<Report> Simulate(const Job& job);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_SIMULATION_H_
