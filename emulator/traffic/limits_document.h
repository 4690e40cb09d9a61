// Limits as members of a JSON object: of a bucket's, of a simulated job's.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_DOCUMENT_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_DOCUMENT_H_

#include "emulator/traffic/limits.h"

namespace penstock::emulator {
class JsonFields;
}  // namespace penstock::emulator

namespace penstock::emulator::traffic {

// Puts what `fields` have of reads_per_second, writes_per_second, burst_ms, split_after_s,
// merge_after_s and max_partitions into `limits`, and checks them. kInvalidArgument names the
// member.
Result<void> ReadLimits(const JsonFields& fields, Limits& limits);
// Whether `fields` have any of them.
bool HasLimits(const JsonFields& fields);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_DOCUMENT_H_
