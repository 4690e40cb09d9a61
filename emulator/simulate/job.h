// A checkpoint job to simulate: the ranks, the data, the object keys and the client.
#ifndef PENSTOCK_EMULATOR_SIMULATE_JOB_H_
#define PENSTOCK_EMULATOR_SIMULATE_JOB_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/simulate/naming.h"
#include "emulator/simulate/retry_policy.h"
#include "emulator/traffic/latency_profile.h"
#include "emulator/traffic/limits/limits.h"
#include "penstock/base/result.h"
#include "penstock/simulate.h"

namespace penstock::emulator::simulate {

// kSave: every rank uploads its files, then rank 0 commits by writing the object ".metadata".
// kLoad: every rank reads ".metadata", then its files. kList: every rank lists the checkpoint's
// path once.
enum class Operation { kSave, kLoad, kList };

struct Job {
  Operation operation = Operation::kSave;
  std::uint32_t ranks = 8;
  std::uint32_t files_per_rank = 1;  // Transferred one after the other.
  std::uint64_t file_bytes = 1ULL << 30;
  std::uint64_t part_bytes = 32ULL << 20;  // A file up to this size is one request.
  std::uint32_t connections_per_rank = 8;
  // The number of checkpoints. Their numbers start at FirstRound; naming.epoch, if set, is
  // incremented with them.
  std::uint32_t rounds = 1;
  // Between the starts of rounds. A round that takes longer delays the next. Rounds that would
  // begin after the deadline because of such delays are not run.
  std::chrono::nanoseconds round_every{};
  std::chrono::nanoseconds start_spread{};  // Ranks start a round evenly spread over this time.
  std::string path = "checkpoint/step_{round}";  // "{round}" is replaced by the round's number.
  Naming naming;
  traffic::Limits limits;
  // The initial number of partitions, as left by kPastRounds earlier rounds of this job with the
  // same naming. Each partition has the same number of their files. 1: a new bucket.
  std::uint32_t warm_partitions = 1;
  traffic::LatencyProfile latency;
  RetryPolicy client;
  std::uint64_t rank_bytes_per_second = 0;  // Network limit per rank. 0: no limit.
  std::uint64_t seed = 1;
  // In virtual time. Requests that are not complete by then have failed.
  std::chrono::nanoseconds deadline = std::chrono::hours(6);
};

// The number of earlier rounds in a bucket with initial partitions.
constexpr std::uint32_t kPastRounds = 8;
// The number of the first simulated round. It follows the earlier rounds, if any.
std::uint32_t FirstRound(const Job& job);

// "save", "load" or "list".
std::string_view OperationName(Operation operation);
Result<Operation> FindOperation(std::string_view name);

// The number of requests of a job without rejections, at most UINT64_MAX.
std::uint64_t RequestsOf(const Job& job);
// Returns kInvalidArgument that names the field, its value and the limit. A job may have up to
// 65,536 ranks, and the requests and connections of `limits`.
Result<void> CheckJob(const Job& job, const SimulateOptions& limits = {});

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_JOB_H_
