// The operations on configurations of buckets and objects, as pure functions like those of verbs.h.
#ifndef PENSTOCK_CLIENT_S3_CONFIGURATION_CONFIGURATION_H_
#define PENSTOCK_CLIENT_S3_CONFIGURATION_CONFIGURATION_H_

#include "client/s3/verbs/verbs.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"
#include "penstock/bucket_configuration.h"
#include "penstock/object_configuration.h"

namespace penstock::s3 {

// bucket_configuration.cc

// Return kInvalidArgument if S3 lacks the operation for that kind, or if an id is missing or not
// used.
Result<WireRequest> BuildRequest(const GetBucketConfigurationRequest& request,
                                 const BuildContext& context);
Result<BucketConfiguration> ParseResponse(const GetBucketConfigurationRequest& request,
                                          const WireResponse& response);
Result<WireRequest> BuildRequest(const PutBucketConfigurationRequest& request,
                                 const BuildContext& context);
// Servers other than S3 return text for a policy that was set: moto 5.2 sends `True`, and moto 5.0
// the policy. Other text is kUnsupported.
Result<NoResponse> ParseResponse(const PutBucketConfigurationRequest& request,
                                 const WireResponse& response);
Result<WireRequest> BuildRequest(const DeleteBucketConfigurationRequest& request,
                                 const BuildContext& context);
Result<WireRequest> BuildRequest(const GetBucketVersioningRequest& request,
                                 const BuildContext& context);
Result<GetBucketVersioningResponse> ParseResponse(const GetBucketVersioningRequest& request,
                                                  const WireResponse& response);
Result<WireRequest> BuildRequest(const PutBucketVersioningRequest& request,
                                 const BuildContext& context);
Result<WireRequest> BuildRequest(const GetBucketTaggingRequest& request,
                                 const BuildContext& context);
Result<GetBucketTaggingResponse> ParseResponse(const GetBucketTaggingRequest& request,
                                               const WireResponse& response);
Result<WireRequest> BuildRequest(const PutBucketTaggingRequest& request,
                                 const BuildContext& context);

// object_configuration.cc

Result<WireRequest> BuildRequest(const GetObjectTaggingRequest& request,
                                 const BuildContext& context);
Result<GetObjectTaggingResponse> ParseResponse(const GetObjectTaggingRequest& request,
                                               const WireResponse& response);
Result<WireRequest> BuildRequest(const PutObjectTaggingRequest& request,
                                 const BuildContext& context);
Result<ObjectConfigurationResponse> ParseResponse(const PutObjectTaggingRequest& request,
                                                  const WireResponse& response);
Result<WireRequest> BuildRequest(const DeleteObjectTaggingRequest& request,
                                 const BuildContext& context);
Result<ObjectConfigurationResponse> ParseResponse(const DeleteObjectTaggingRequest& request,
                                                  const WireResponse& response);
Result<WireRequest> BuildRequest(const GetObjectConfigurationRequest& request,
                                 const BuildContext& context);
Result<ObjectConfiguration> ParseResponse(const GetObjectConfigurationRequest& request,
                                          const WireResponse& response);
Result<WireRequest> BuildRequest(const PutObjectConfigurationRequest& request,
                                 const BuildContext& context);
Result<WireRequest> BuildRequest(const RestoreObjectRequest& request, const BuildContext& context);
Result<RestoreObjectResponse> ParseResponse(const RestoreObjectRequest& request,
                                            const WireResponse& response);
Result<WireRequest> BuildRequest(const GetObjectAttributesRequest& request,
                                 const BuildContext& context);
Result<GetObjectAttributesResponse> ParseResponse(const GetObjectAttributesRequest& request,
                                                  const WireResponse& response);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CONFIGURATION_CONFIGURATION_H_
