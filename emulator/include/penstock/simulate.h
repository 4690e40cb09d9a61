// Which prefix strategy survives on my job? A checkpoint job against the emulator's model of S3's
// partitions, in virtual time.
#ifndef PENSTOCK_SIMULATE_H_
#define PENSTOCK_SIMULATE_H_

#include <string>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::emulator {

// Runs a job and answers with its report, both JSON objects; the same job has the same report
// everywhere. Takes about a microsecond of one processor for each request. kInvalidArgument names
// the member that is wrong.
//
// The job; every member is optional and these are the defaults, where nothing else is said. Times
// are in seconds, sizes in bytes:
//   "operation"            "save": every rank uploads its files, then one object ".metadata"
//   commits; "load"; "list" "ranks"                8, up to 65,536; "files_per_rank" 1, one after
//   the other; "file_bytes" 1 GiB; "part_bytes" 32 MiB "connections_per_rank" 8;
//   "rank_bytes_per_second" 0: no limit; "start_spread_s" 0: ranks begin within this time "rounds"
//   1; "round_every_s" 0: checkpoints one after the other "path" "checkpoint/step_{round}", under
//   another strategy than "default" "checkpoint" "strategy"             "default", "binary", "hex",
//   "round-robin", with "epoch" (unset; counts with the rounds),
//                          "min_prefix_length" 10, "prefix_count" (one per rank), "prefixes"
//                          (round-robin's list)
//   "limits"               "aws-standard", "aws-strict", "aws-express", or of one's own:
//   "reads_per_second",
//                          "writes_per_second", "burst_ms", "split_after_s", "merge_after_s",
//                          "max_partitions"
//   "warm_partitions"      1: a bucket without a past. Otherwise so many partitions as 8 earlier
//   rounds of this job have left, under
//                          the names that its own strategy gave them, each with as many of their
//                          files; the rounds go on from 8
//   "latency"              "s3-standard", "s3-express", "none"
//   "client"               "standard", "legacy", "adaptive", "crt", "penstock": how it retries
//   "seed"                 1; "deadline_s" 21600
//
// The report: "ended_s", "requests", "refused" (503), "retries", "gave_up", "bytes"; "rounds" with
// "began_s", "ended_s", "lasted_s", "completed", "ranks_failed", "median_rank_s", "slowest_rank_s";
// "interval_s" and "intervals" with "requests", "refused", "partitions"; "partitions", the busiest,
// with "begin" (first key) and "requests" by interval; "events", splits and merges.
Result<std::string> SimulateJson(std::string_view job);

}  // namespace penstock::emulator

#endif  // PENSTOCK_SIMULATE_H_
