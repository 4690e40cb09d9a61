// What directory buckets serve, at which endpoint, and what they refuse (spec/protocol.md §1.2,
// §1.4, §1.5).
//
// One table of operations and one of headers; the operations themselves do not ask again.
#ifndef PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_RULES_H_
#define PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_RULES_H_

#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Before the bucket is opened. For a directory bucket: the endpoint serves the operation, the
// session permits it, neither operation nor headers are among those it does not know. For any
// other: nothing that only directory buckets know.
Result<void> CheckDirectoryRules(const Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_RULES_H_
