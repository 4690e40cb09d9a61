// Simulates a job against the partition model in virtual time, without network or sleeping. The
// result for a job is deterministic.
#ifndef PENSTOCK_EMULATOR_SIMULATE_SIMULATION_H_
#define PENSTOCK_EMULATOR_SIMULATE_SIMULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/simulate/job.h"
#include "emulator/traffic/limits/partition_model.h"

namespace penstock::emulator::simulate {

struct Round {
  Instant began{};
  Instant ended{};
  // save: ".metadata" was written. load, list: every rank has completed its requests.
  bool committed = false;
  std::uint32_t ranks_failed = 0;
  // Time from the start of the round, for ranks that did not fail. Zero if all failed.
  Instant median_rank{};
  Instant slowest_rank{};
};

// The counters of one interval of length Report::interval.
struct Interval {
  std::uint64_t requests = 0;    // Requests sent, rejected or not.
  std::uint64_t refused = 0;     // Rejected with 503.
  std::uint32_t partitions = 0;  // At the end of the interval.
};

struct PartitionSeries {
  std::uint32_t id = 0;
  std::string begin;                    // Its first key.
  std::vector<std::uint64_t> requests;  // Per interval.
};

struct Report {
  std::vector<Round> rounds;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;
  std::uint64_t retries = 0;
  std::uint64_t gave_up = 0;  // Requests that the client did not retry.
  std::uint64_t bytes = 0;    // Bytes of bodies that were transferred completely.
  Instant ended{};            // End of the job.
  Instant interval{};         // Length of an interval.
  std::vector<Interval> intervals;
  // Only the busiest partitions.
  std::vector<PartitionSeries> partitions;
  std::vector<traffic::PartitionEvent> events;  // The latest splits and merges.
};

// Returns the errors of CheckJob, and kCancelled. Takes about 1 us per request.
Result<Report> Simulate(const Job& job, const SimulateOptions& options = {});

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_SIMULATION_H_
