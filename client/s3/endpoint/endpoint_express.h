// Where requests for directory buckets go (S3 Express One Zone, spec/protocol.md §1.2).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_EXPRESS_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_EXPRESS_H_

#include "client/s3/endpoint/endpoint.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// For IsDirectoryBucket(inputs.bucket): the zone's host, the region's control host, or the custom
// endpoint. Path-style addressing is not asked: only an address or the control host has the bucket
// in the path.
Result<ResolvedEndpoint> ResolveDirectoryBucket(const EndpointInputs& inputs);

// Without a bucket: ListDirectoryBuckets.
ResolvedEndpoint ResolveExpressControl(const EndpointInputs& inputs);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_EXPRESS_H_
