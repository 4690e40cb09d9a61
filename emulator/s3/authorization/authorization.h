// Whether a requester may do what a request asks for: identity policies, bucket policies, ACLs,
// object ownership and Block Public Access together (docs/explanation/emulator/authorization.md).
//
// The router authorizes every operation that addresses a bucket after OpenBucket. Operations with
// further resources, or with conditions about their body, call this module themselves.
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_AUTHORIZATION_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_AUTHORIZATION_H_

#include <string>
#include <string_view>

#include "emulator/s3/authorization/request_context.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Authorizes the request's operation. Does nothing for operations that authorize late (actions.h).
// Returns AccessDenied.
Result<void> AuthorizeOperation(Call& call);

// For operations that authorize late: with the keys whose values are in the body.
Result<void> AuthorizeWithBody(Call& call, const BodyKeys& body);

// Authorizes one action on a bucket or on an object in it: a key of DeleteObjects, or the source of
// a copy.
Result<void> AuthorizeAction(Call& call, const Subject& subject, std::string_view action,
                             const BodyKeys& body = {});

// Authorizes the version of an object that a copy reads. `object`: null if it does not exist.
// Copying its tags needs further permissions.
Result<void> AuthorizeCopySource(Call& call, const Subject& source,
                                 const store::ObjectRecord* object);

// Returns the decision about an action as JSON (decisions.h). `keys`: condition keys that replace
// those of the request.
std::string ExplainAction(const Call& call, const Subject& subject, std::string_view action,
                          const BodyKeys& keys);

// S3 reports a missing object or version as 404 only to requesters that may list the bucket, others
// get 403. Returns `error`, or AccessDenied.
Error HideMissingKey(Call& call, const store::BucketRecord& bucket, Error error);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_AUTHORIZATION_H_
