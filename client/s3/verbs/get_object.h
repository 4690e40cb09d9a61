// GetObject: GET /{bucket}/{key}, the whole object or a range. The head is verified before any byte
// is delivered.
#ifndef PENSTOCK_CLIENT_S3_VERBS_GET_OBJECT_H_
#define PENSTOCK_CLIENT_S3_VERBS_GET_OBJECT_H_

#include <cstdint>

#include "client/s3/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// The content of a 200 or 206 according to its head.
struct ObjectAnswer {
  ObjectMetadata metadata;
  std::uint64_t body_length = 0;
  bool whole_object = false;
};

// Returns kDataLoss if the response is not the requested object or range: another ETag than
// If-Match, a Content-Range that differs from the range, a whole object instead of a part, or
// contradictory or missing lengths.
Result<ObjectAnswer> ReadObjectHead(const GetObjectRequest& request,
                                    const http::ResponseHead& head);

// Returns kInvalidArgument if the sink is missing or the range is empty.
Result<WireRequest> BuildRequest(const GetObjectRequest& request, const BuildContext& context);
Result<ObjectMetadata> ParseResponse(const GetObjectRequest& request, const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_GET_OBJECT_H_
