// Whom an attempt is signed by: the identity of the client, or the session it has with a directory
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

// Where the identity of a client comes from: unsigned, given, or the default chain.
ProcessState::MakeProvider ProviderMakerOf(const ResolvedConfig& config,
                                           const ClientDependencies& surroundings);

// `done` exactly once, possibly before this returns; null: do not sign. A session that could not be
// had is CreateSession's error. Never blocks.
void FetchSigningCredentials(const std::shared_ptr<ClientState>& state,
                             const ResolvedEndpointPtr& endpoint, const std::string& bucket,
                             std::function<void(Result<CredentialsPtr>)> done);

// Whether S3 refused the session that a request was signed with, so that another one may help. A
// HEAD's 400 names no code.
bool RefusesSession(const ResolvedEndpoint& endpoint, const OperationInfo& operation,
                    const Error& error);

// The next FetchSigningCredentials asks the provider again, unless it delivers others than
// `refused` already.
void ForgetCredentials(ClientState& state, const CredentialsPtr& refused);

// The next FetchSigningCredentials does not deliver `refused` again.
void ForgetSession(ClientState& state, const std::string& bucket, const CredentialsPtr& refused);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_EXPRESS_SIGNING_CREDENTIALS_H_
