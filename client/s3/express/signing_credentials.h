// The credentials that sign an attempt: the client's, or those of its session with a directory
// bucket.
#ifndef PENSTOCK_CLIENT_S3_EXPRESS_SIGNING_CREDENTIALS_H_
#define PENSTOCK_CLIENT_S3_EXPRESS_SIGNING_CREDENTIALS_H_

#include <functional>
#include <memory>
#include <string>

#include "client/s3/dispatcher.h"
#include "client/s3/endpoint/endpoint.h"
#include "penstock/credentials.h"

namespace penstock::s3 {

// Returns the source of the client's credentials: unsigned, given, or the default chain.
ProcessState::MakeProvider ProviderMakerOf(const ResolvedConfig& config,
                                           const ClientDependencies& dependencies);

// `done` runs exactly once, possibly before this returns. Null: do not sign. If there is no
// session, the error is that of CreateSession. Never blocks.
void FetchSigningCredentials(const std::shared_ptr<ClientState>& state,
                             const ResolvedEndpointPtr& endpoint, const std::string& bucket,
                             std::function<void(Result<CredentialsPtr>)> done);

// Returns whether S3 rejected the session that signed a request, so that another one may succeed. A
// HEAD's 400 has no code.
bool RefusesSession(const ResolvedEndpoint& endpoint, const OperationInfo& operation,
                    const Error& error);

// Makes the next FetchSigningCredentials call the provider again, unless it already returns
// credentials other than `refused`.
void ForgetCredentials(ClientState& state, const CredentialsPtr& refused);

// Makes the next FetchSigningCredentials return a session other than `refused`.
void ForgetSession(ClientState& state, const std::string& bucket, const CredentialsPtr& refused);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_EXPRESS_SIGNING_CREDENTIALS_H_
