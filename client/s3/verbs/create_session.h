// CreateSession: GET /?session of a directory bucket. Returns credentials that are valid for five
// minutes and only for this bucket.
#ifndef PENSTOCK_CLIENT_S3_VERBS_CREATE_SESSION_H_
#define PENSTOCK_CLIENT_S3_VERBS_CREATE_SESSION_H_

#include <chrono>
#include <string>

#include "client/s3/wire.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::s3 {

// Not public: the client creates sessions itself. The session mode is S3's default, which follows
// from the identity's permissions.
struct CreateSessionRequest {
  BucketName bucket;
};

struct BucketSession {
  CredentialsPtr credentials;       // Secret; without expires_at.
  std::chrono::seconds lifetime{};  // From the moment of the response.
};

Result<WireRequest> BuildRequest(const CreateSessionRequest& request, const BuildContext& context);

// The lifetime is relative to the response's Date, or to `now` without one, so a wrong local clock
// has no effect. Returns kUnavailable if the document is not a session.
Result<BucketSession> ParseSession(const WireResponse& response, WallTime now);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_CREATE_SESSION_H_
