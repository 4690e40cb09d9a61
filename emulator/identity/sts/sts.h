// AWS Security Token Service on the port of S3: AssumeRole, AssumeRoleWithWebIdentity,
// GetSessionToken and GetCallerIdentity (AWS STS API Reference, version 2011-06-15).
//
// The front recognizes the requests (emulator/auth/query_request.h) and authentication verifies
// them. This filter answers them; faults and delays apply to them like to requests for S3.
#ifndef PENSTOCK_EMULATOR_IDENTITY_STS_STS_H_
#define PENSTOCK_EMULATOR_IDENTITY_STS_STS_H_

#include <memory>

#include "emulator/identity/identities.h"
#include "emulator/identity/sts/trust.h"
#include "emulator/s3/core/filter_chain.h"

namespace penstock::emulator::identity {

struct StsOptions {
  IdentityPolicies policies = IdentityPolicies::kEvaluated;
};

// `identities` must outlive the filter. Responds to requests with a QueryRequest.
std::unique_ptr<s3::Filter> MakeSts(StsOptions options, Identities& identities);

// A session of a role that no access key requests, for an instance or a container.
// `session_name` becomes the end of its ARN. The errors of Identities::AddSession.
Result<SessionRecord> StartRoleSession(Identities& identities, std::string_view account_id,
                                       const Role& role, std::string session_name, WallTime now,
                                       std::chrono::seconds duration);

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_STS_STS_H_
