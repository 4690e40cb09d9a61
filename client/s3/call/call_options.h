// The CallOptions that change a request: the bucket's owner, the payer, and the caller's own
// headers and query parameters.
#ifndef PENSTOCK_CLIENT_S3_CALL_CALL_OPTIONS_H_
#define PENSTOCK_CLIENT_S3_CALL_CALL_OPTIONS_H_

#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// Call after BuildRequest. Returns kInvalidArgument with the name if the client sets that header or
// parameter itself, a name is not a token, a value has control characters, or the operation has no
// expected bucket owner.
Result<void> ApplyCallOptions(const CallOptions& options, WireRequest& wire);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_CALL_OPTIONS_H_
