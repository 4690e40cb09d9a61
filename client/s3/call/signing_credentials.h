// The credentials that sign an attempt: the client's, or those of its session with a directory
// bucket.
#ifndef PENSTOCK_CLIENT_S3_CALL_SIGNING_CREDENTIALS_H_
#define PENSTOCK_CLIENT_S3_CALL_SIGNING_CREDENTIALS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "client/http/transport.h"
#include "client/s3/call/client_state.h"
#include "client/s3/endpoint/endpoint.h"
#include "penstock/credentials.h"

namespace penstock::s3 {

// Returns the source of the client's credentials: unsigned, given, or the default chain.
ProcessState::MakeProvider ProviderMakerOf(const ResolvedConfig& config,
                                           const ClientDependencies& dependencies);

// `done` runs exactly once, possibly before this returns. Null: do not sign. If there is no
// session, the error is that of CreateSession. A session is valid for `wanted` if one can be
// (ExpressSessions). Never blocks.
void FetchSigningCredentials(const std::shared_ptr<ClientState>& state,
                             const ResolvedEndpointPtr& endpoint, const std::string& bucket,
                             std::chrono::seconds wanted,
                             std::function<void(Result<CredentialsPtr>)> done);

// The error of a call whose deadline passes before FetchSigningCredentials has ended.
Error LateCredentials();

// Signs the attempts of one call. After S3 refused a signature it corrects the client's clock or
// has the credentials renewed, each at most once per call. Not thread-safe. The arguments of the
// constructor must outlive this object.
class CallSigner {
 public:
  CallSigner(ClientState& state, const OperationInfo& info, const std::string& bucket)
      : state_(state), info_(info), bucket_(bucket) {}

  // Takes the credentials for the next attempt; null: do not sign. Returns the error of the refused
  // attempt if renewed credentials are the same.
  Result<void> Accept(CredentialsPtr credentials);
  // Returns the credentials of the next attempt; null: unsigned.
  const Credentials* credentials() const { return credentials_.get(); }
  // `payload_hash` is the value of x-amz-content-sha256.
  Result<void> Sign(http::Request& request, const ResolvedEndpoint& endpoint,
                    std::string_view payload_hash);

  // Returns whether the clock of the client was wrong when the attempt was signed, and now is
  // corrected.
  bool CorrectClock(const Error& error, const http::ResponseHead& head);
  // Returns whether other credentials may succeed. FetchSigningCredentials then returns others, if
  // there are any.
  bool Renew(const Error& error, const ResolvedEndpoint& endpoint);

 private:
  ClientState& state_;
  const OperationInfo& info_;
  const std::string& bucket_;
  CredentialsPtr credentials_;
  std::unique_ptr<Error> refused_;  // The error to return if credentials_ do not change.
  bool renewed_ = false;            // Or an attempt to renew them was made.
  bool clock_corrected_ = false;
  std::int64_t skew_ = 0;  // clock_skew_seconds when the attempt was signed
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_SIGNING_CREDENTIALS_H_
