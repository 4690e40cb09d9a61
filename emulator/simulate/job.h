// A checkpoint job as a simulation sees it: who writes or reads how much, under which names, with
// which client.
#ifndef PENSTOCK_EMULATOR_SIMULATE_JOB_H_
#define PENSTOCK_EMULATOR_SIMULATE_JOB_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/simulate/naming.h"
#include "emulator/simulate/retry_policy.h"
#include "emulator/traffic/latency_profile.h"
#include "emulator/traffic/limits.h"
#include "penstock/base/result.h"

namespace penstock::emulator::simulate {

// kSave: every rank uploads its files, then one object ".metadata" commits. kLoad: every rank reads
// ".metadata", then its files. kList: every rank lists the checkpoint's path once.
enum class Operation { kSave, kLoad, kList };

struct Job {
  Operation operation = Operation::kSave;
  std::uint32_t ranks = 8;
  std::uint32_t files_per_rank = 1;  // one after the other
  std::uint64_t file_bytes = 1ULL << 30;
  std::uint64_t part_bytes = 32ULL << 20;  // a file no larger than a part is one request
  std::uint32_t connections_per_rank = 8;
  // checkpoints, counted from FirstRound on; naming.epoch, where it is set, counts with them
  std::uint32_t rounds = 1;
  std::chrono::nanoseconds round_every{};   // between their begins; a longer one delays the next
  std::chrono::nanoseconds start_spread{};  // ranks begin a round within this time, evenly
  std::string path = "checkpoint/step_{round}";  // "{round}" is the round's number
  Naming naming;
  traffic::Limits limits;
  // Partitions that the bucket has at the beginning, as rounds before have left them: kPastRounds
  // of this job, under the names that its own strategy gave their files, each partition with as
  // many of these files as the others. 1: a bucket without a past.
  std::uint32_t warm_partitions = 1;
  traffic::LatencyProfile latency;
  RetryPolicy client;
  std::uint64_t rank_bytes_per_second = 0;  // of one rank's network; 0: no limit
  std::uint64_t seed = 1;
  // of virtual time; what is not done by then has failed
  std::chrono::nanoseconds deadline = std::chrono::hours(6);
};

// Rounds that a bucket with a past has seen.
constexpr std::uint32_t kPastRounds = 8;
// The number of the first round that is simulated: behind those of the past, where there is one.
std::uint32_t FirstRound(const Job& job);

// "save", "load", "list".
std::string_view OperationName(Operation operation);
Result<Operation> FindOperation(std::string_view name);

// Requests of a job that nobody refuses.
std::uint64_t RequestsOf(const Job& job);
// kInvalidArgument names the field, its value, the limit. A job may have up to 65,536 ranks and
// 20,000,000 requests.
Result<void> CheckJob(const Job& job);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_JOB_H_
