// CreateSession: GET /?session of a directory bucket. Credentials for five minutes and this bucket
// alone.
#ifndef PENSTOCK_CLIENT_S3_VERBS_CREATE_SESSION_H_
#define PENSTOCK_CLIENT_S3_VERBS_CREATE_SESSION_H_

#include <chrono>
#include <string>

#include "client/s3/wire.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::s3 {

// Not one of the public verbs: the client makes sessions by itself. The mode is left to S3: what
// the identity may.
struct CreateSessionRequest {
  BucketName bucket;
};

struct BucketSession {
  CredentialsPtr credentials;       // secrets; without expires_at
  std::chrono::seconds lifetime{};  // from the moment the answer was made
};

Result<WireRequest> BuildRequest(const CreateSessionRequest& request, const BuildContext& context);

// The lifetime is counted from the answer's own Date, so that a wrong clock here does not matter;
// `now` stands in where there is none. kUnavailable when the document is no session.
Result<BucketSession> ParseSession(const WireResponse& response, WallTime now);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_CREATE_SESSION_H_
