#include "client/s3/express/signing_credentials.h"

#include <chrono>
#include <utility>

#include "client/s3/endpoint/partition.h"
#include "client/s3/express/express_sessions.h"
#include "client/s3/verbs/create_session.h"

namespace penstock::s3 {
namespace {

using Done = std::function<void(Result<CredentialsPtr>)>;

// Waiting callers have their own deadlines. This one prevents later calls from waiting for a
// CreateSession that never ends.
constexpr std::chrono::seconds kSessionDeadline{60};

void CallCreateSession(const std::shared_ptr<ClientState>& state, const std::string& bucket,
                       std::function<void(Result<BucketSession>)> done) {
  auto wire = BuildRequest(CreateSessionRequest{BucketName(bucket)}, state->build_context);
  if (!wire.ok()) return done(std::move(wire).error());
  const Clock& clock = *state->dependencies.clock;
  // Shared by the two functions below, which live as long as the call.
  auto session = std::make_shared<BucketSession>();
  PreparedCall call;
  call.request = std::move(wire).value();
  call.options.deadline = Deadline::After(clock, kSessionDeadline);
  call.accept = [session, &clock](const WireResponse& response) -> Result<void> {
    PENSTOCK_ASSIGN(*session, ParseSession(response, clock.Now()));
    return Ok();
  };
  call.done = [session, done = std::move(done)](Result<void> result) {
    if (!result.ok()) return done(std::move(result).error());
    done(*session);
  };
  Dispatch(state, std::move(call));
}

}  // namespace

ProcessState::MakeProvider ProviderMakerOf(const ResolvedConfig& config,
                                           const ClientDependencies& dependencies) {
  if (config.client.signing == Signing::kUnsigned)
    return [] { return auth::MakeAnonymousProvider(); };
  if (config.client.credentials != nullptr) {
    return [given = config.client.credentials, clock = dependencies.clock] {
      return auth::MakeCachedProvider(given, *clock);
    };
  }
  const auth::RemoteContext context{dependencies.environment,
                                    dependencies.clock,
                                    dependencies.transport,
                                    config.client.region,
                                    std::string(PartitionOf(config.client.region).dns_suffix),
                                    config.client.ca_bundle_path};
  return [context, profile = config.client.profile] {
    return auth::MakeDefaultProvider(context, profile);
  };
}

void FetchSigningCredentials(const std::shared_ptr<ClientState>& state,
                             const ResolvedEndpointPtr& endpoint, const std::string& bucket,
                             Done done) {
  const auth::ProviderPtr provider = state->process.provider();
  if (endpoint->auth != AuthScheme::kSigV4Express) return provider->Start(std::move(done));
  provider->Start(
      [state, endpoint, bucket, done = std::move(done)](Result<CredentialsPtr> identity) {
        if (!identity.ok() || *identity == nullptr) return done(std::move(identity));
        const SessionKey key{bucket, endpoint->signing_region, IdentityOf(**identity)};
        state->process.sessions()->Start(
            key, [&](auto created) { CallCreateSession(state, bucket, std::move(created)); },
            std::move(done));
      });
}

bool RefusesSession(const ResolvedEndpoint& endpoint, const OperationInfo& operation,
                    const Error& error) {
  if (endpoint.auth != AuthScheme::kSigV4Express) return false;
  if (operation.method == "HEAD" && error.http_status == 400) return true;
  return error.code == "ExpiredToken" || error.code == "InvalidToken" ||
         error.code == "InvalidAccessKeyId";
}

void ForgetCredentials(ClientState& state, const CredentialsPtr& refused) {
  if (auto* const cached = dynamic_cast<auth::CachedProvider*>(state.process.provider().get()))
    cached->Forget(refused);
}

void ForgetSession(ClientState& state, const std::string& bucket, const CredentialsPtr& refused) {
  state.process.sessions()->Drop(bucket, refused);
}

}  // namespace penstock::s3
