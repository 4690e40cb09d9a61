// Simulates a checkpoint job against the emulator's model of S3 partitions, in virtual time. It
// shows which key prefix strategy is throttled least.
#ifndef PENSTOCK_SIMULATE_H_
#define PENSTOCK_SIMULATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "penstock/base/export.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {
namespace emulator {

struct SimulateOptions {
  std::uint64_t most_requests = 20'000'000;  // of the job without rejections and retries
  // The product of "ranks" and "connections_per_rank"; each takes about 60 bytes.
  std::uint64_t most_connections = 65'536 * 1'024;
  // Called every few milliseconds on the calling thread. May be empty. If it returns true, the
  // simulation ends with kCancelled.
  std::function<bool()> cancelled = {};
};

// Runs a job and returns its report. Both are JSON objects. The same job has the same report on
// every machine. Takes about 1 us of CPU time per request. kInvalidArgument names the invalid
// member, or the number of requests or connections and its limit.
//
// Members of the job, all optional. The first value is the default. Times are in seconds, sizes in
// bytes.
//
//   "operation"              "save" (every rank uploads its files, then one object ".metadata"
//                            commits), "load" or "list"
//   "ranks"                  8; at most 65,536
//   "files_per_rank"         1; uploaded one after the other
//   "file_bytes"             1 GiB
//   "part_bytes"             32 MiB
//   "connections_per_rank"   8
//   "rank_bytes_per_second"  0: no limit
//   "start_spread_s"         0; ranks begin within this time
//   "rounds"                 1; checkpoints one after the other
//   "round_every_s"          0: the next round begins when the previous one has ended. All rounds
//                            must begin before the deadline
//   "path"                   "checkpoint/step_{round}"; "checkpoint" for other strategies than
//                            "default"
//   "strategy"               "default", "binary", "hex" or "round-robin"
//   "epoch"                  of the strategy; unset: counts with the rounds
//   "min_prefix_length"      10
//   "prefix_count"           one per rank
//   "prefixes"               list for "round-robin"
//   "limits"                 "aws-standard", "aws-strict" or "aws-express". These members of the
//                            job replace single values: "reads_per_second", "writes_per_second",
//                            "burst_ms", "split_after_s", "merge_after_s", "max_partitions"
//   "warm_partitions"        1: a new bucket. N: the N partitions that 8 earlier rounds of this job
//                            have left, split by the strategy's own names, each with as many files;
//                            the rounds continue from 8
//   "latency"                "s3-standard", "s3-express" or "none"
//   "client"                 retry behaviour: "standard", "legacy", "adaptive", "crt" or "penstock"
//   "seed"                   1
//   "deadline_s"             21600; rounds that are delayed beyond it are not in the report
//
// Members of the report:
//
//   "ended_s", "requests", "refused" (503), "retries", "gave_up", "bytes"
//   "rounds"                 "began_s", "ended_s", "lasted_s", "completed", "ranks_failed",
//                            "median_rank_s", "slowest_rank_s"
//   "interval_s", "intervals"  with "requests", "refused", "partitions"
//   "partitions"             the busiest ones, with "begin" (first key) and "requests" per interval
//   "events"                 splits and merges
Result<std::string> SimulateJson(std::string_view job, const SimulateOptions& options = {});

}  // namespace emulator
}  // namespace penstock

#endif  // PENSTOCK_SIMULATE_H_
