// The operations and headers that directory buckets support, and the endpoints that serve them.
//
// The check happens once, before the operation.
#ifndef PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_RULES_H_
#define PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_RULES_H_

#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Called before the bucket is opened. For a directory bucket: checks that the endpoint serves the
// operation, that the session permits it, and that operation and headers are supported. For other
// buckets: refuses what only directory buckets support.
Result<void> CheckDirectoryRules(const Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DIRECTORY_DIRECTORY_RULES_H_
