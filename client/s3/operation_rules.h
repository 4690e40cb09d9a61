// What the endpoint rules know of each operation (AWS's model: the static context parameters of its
// operations).
#ifndef PENSTOCK_CLIENT_S3_OPERATION_RULES_H_
#define PENSTOCK_CLIENT_S3_OPERATION_RULES_H_

#include "client/s3/endpoint/endpoint.h"
#include "client/s3/operations.h"

namespace penstock::s3 {

// `plain_auth` for the control operations too: at a custom endpoint the rule set would have a
// session for a bucket that may not exist yet.
constexpr OperationRules RulesOf(Operation operation) {
  switch (operation) {
    case Operation::kCreateBucket:
      return {.express_control = true,
              .plain_auth = true,
              .no_access_points = true,
              .never_accelerated = true};
    case Operation::kDeleteBucket:
    case Operation::kListDirectoryBuckets:
      return {.express_control = true, .plain_auth = true, .never_accelerated = true};
    case Operation::kListBuckets: return {.never_accelerated = true};
    case Operation::kCopyObject:
    case Operation::kUploadPartCopy:
    case Operation::kCreateSession: return {.plain_auth = true};
    default: return {};
  }
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_OPERATION_RULES_H_
