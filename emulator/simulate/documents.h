// A simulated job and its report as JSON: what the command line and Python speak.
#ifndef PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_
#define PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_

#include <string>
#include <string_view>

#include "emulator/simulate/simulation.h"

namespace penstock::emulator::simulate {

// One object, every member optional; Job's defaults, with the limits "aws-standard", the latency "s3-standard" and the client
// "standard", and the path "checkpoint" under every strategy but "default". Times are in seconds. kInvalidArgument names the member.
//
//   {"operation": "save", "ranks": 8, "files_per_rank": 1, "file_bytes": 1073741824, "part_bytes": 33554432,
//    "connections_per_rank": 8, "rounds": 1, "round_every_s": 0, "start_spread_s": 0, "path": "checkpoint/step_{round}",
//    "strategy": "hex", "epoch": 0, "min_prefix_length": 10, "prefix_count": 16, "prefixes": ["a", "b"],
//    "limits": "aws-strict", "reads_per_second": 55, "writes_per_second": 35, "burst_ms": 100, "split_after_s": 30,
//    "merge_after_s": 120, "max_partitions": 4096, "warm_partitions": 1,
//    "latency": "s3-standard", "client": "standard", "rank_bytes_per_second": 0, "seed": 1, "deadline_s": 21600}
Result<Job> ParseJob(std::string_view json);

// The job's summary and the report; times in seconds, counts as they are.
std::string ReportJson(const Job& job, const Report& report);

// ParseJob, Simulate, ReportJson.
Result<std::string> SimulateJson(std::string_view job);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_
