// Endpoints of directory buckets (S3 Express One Zone).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_EXPRESS_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_EXPRESS_H_

#include "client/s3/endpoint/endpoint.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// For IsDirectoryBucket(inputs.bucket): the zone's host, the region's control host, or the custom
// endpoint. The addressing style is ignored: the bucket is in the path only for an IP address or
// the control host.
Result<ResolvedEndpoint> ResolveDirectoryBucket(const EndpointInputs& inputs);

// For ListDirectoryBuckets, which has no bucket.
ResolvedEndpoint ResolveExpressControl(const EndpointInputs& inputs);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_EXPRESS_H_
