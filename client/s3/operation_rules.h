// Static context parameters of each operation for the endpoint rules, from AWS's S3 service model.
#ifndef PENSTOCK_CLIENT_S3_OPERATION_RULES_H_
#define PENSTOCK_CLIENT_S3_OPERATION_RULES_H_

#include "client/s3/endpoint/endpoint.h"
#include "client/s3/operations.h"

namespace penstock::s3 {

// Control operations use `plain_auth` too: for a custom endpoint the rule set would request a
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
