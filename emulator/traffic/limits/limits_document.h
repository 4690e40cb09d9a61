// JSON of limits, as members of a bucket's settings or of a simulated job.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_LIMITS_DOCUMENT_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_LIMITS_DOCUMENT_H_

#include "emulator/traffic/limits/limits.h"

namespace penstock::emulator {
class JsonFields;
}  // namespace penstock::emulator

namespace penstock::emulator::traffic {

// Reads reads_per_second, writes_per_second, burst_ms, split_after_s, merge_after_s and
// max_partitions into `limits` and checks them. Absent members keep their value. Returns
// kInvalidArgument that names the member.
Result<void> ReadLimits(const JsonFields& fields, Limits& limits);
// Whether `fields` has any of these members.
bool HasLimits(const JsonFields& fields);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_LIMITS_DOCUMENT_H_
