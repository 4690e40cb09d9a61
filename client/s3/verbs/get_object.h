// GetObject: GET /{bucket}/{key}, whole or a range. The head is held against what was asked before
// any byte passes.
#ifndef PENSTOCK_CLIENT_S3_VERBS_GET_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_GET_OBJECT_H_

#include <cstdint>

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// What the head of a 200 or 206 promises.
struct ObjectAnswer {
  ObjectMetadata metadata;
  std::uint64_t body_length = 0;
  bool whole_object = false;
};

// kDataLoss when the answer is not the object or range asked for: another ETag than If-Match named,
// a Content-Range that differs from the range, a whole object instead of a part, lengths that
// contradict each other or are missing.
Result<ObjectAnswer> ReadObjectHead(const GetObjectRequest& request,
                                    const http::ResponseHead& head);

// kInvalidArgument when the sink is missing or the range is empty.
Result<WireRequest> BuildRequest(const GetObjectRequest& request, const BuildContext& context);
Result<ObjectMetadata> ParseResponse(const GetObjectRequest& request, const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_GET_OBJECT_H_
