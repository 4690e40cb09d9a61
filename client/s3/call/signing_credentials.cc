#include "client/s3/call/signing_credentials.h"

#include <chrono>
#include <utility>

#include "base/log/log.h"
#include "client/s3/call/attempt_loop.h"
#include "client/s3/endpoint/partition.h"
#include "client/s3/express/express_sessions.h"
#include "client/s3/model/error_codes.h"
#include "client/s3/verbs/verbs.h"

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
  // The state lives as long as the call. The session was created after `asked`, so it never ends
  // later than its expires_at says.
  call.accept = [session, &state = *state,
                 asked = clock.Monotonic()](const WireResponse& response) -> Result<void> {
    const auto waited = std::chrono::duration_cast<WallTime::duration>(
        state.dependencies.clock->Monotonic() - asked);
    PENSTOCK_ASSIGN(*session, ParseSession(response, state.CorrectedNow() - waited));
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
                             std::chrono::seconds wanted, Done done) {
  const auth::ProviderPtr provider = state->process.provider();
  if (endpoint->auth != AuthScheme::kSigV4Express) return provider->Start(std::move(done));
  provider->Start([state, endpoint, bucket, wanted,
                   done = std::move(done)](Result<CredentialsPtr> identity) {
    if (!identity.ok() || *identity == nullptr) return done(std::move(identity));
    const SessionKey key{bucket, endpoint->signing_region, IdentityOf(**identity)};
    state->process.sessions()->Start(
        key, wanted, [&](auto created) { CallCreateSession(state, bucket, std::move(created)); },
        std::move(done));
  });
}

Error LateCredentials() {
  return Error::Make(ErrorKind::kTimeout,
                     "the deadline passed while credentials were being fetched: their source did "
                     "not respond within the timeout of the call");
}

Result<void> CallSigner::Accept(CredentialsPtr credentials) {
  if (refused_) {
    const bool changed = credentials != nullptr && credentials_ != nullptr &&
                         (credentials->access_key_id != credentials_->access_key_id ||
                          credentials->session_token != credentials_->session_token);
    if (!changed) return std::move(*std::exchange(refused_, nullptr));
    refused_.reset();  // A later retry may find these unchanged.
  }
  credentials_ = std::move(credentials);
  return Ok();
}

Result<void> CallSigner::Sign(http::Request& request, const ResolvedEndpoint& endpoint,
                              std::string_view payload_hash) {
  if (credentials_ == nullptr) return Ok();
  skew_ = state_.clock_skew_seconds.load(std::memory_order_relaxed);
  return state_.process.SignerFor(ScopeOf(endpoint))
      .Sign(request, *credentials_,
            {.now = state_.dependencies.clock->Now() + std::chrono::seconds(skew_),
             .payload_hash = payload_hash});
}

bool CallSigner::CorrectClock(const Error& error, const http::ResponseHead& head) {
  if (clock_corrected_ || credentials_ == nullptr) return false;
  const auto date = head.Find("date");
  if (!date) return false;
  const WallTime now = state_.dependencies.clock->Now();
  if (!ClockSkew(error, info_.method, *date, now, now + std::chrono::seconds(skew_))) return false;
  clock_corrected_ = true;
  const auto skew = ClockSkew(error, info_.method, *date, now, state_.CorrectedNow());
  if (!skew) return true;  // another call corrected the clock after this attempt was signed
  state_.clock_skew_seconds.store(skew->count(), std::memory_order_relaxed);
  Log({LogLevel::kWarning,
       "client.clock_skew",
       {{"seconds", LogValue::Number(std::to_string(skew->count()))}}});
  return true;
}

bool CallSigner::Renew(const Error& error, const ResolvedEndpoint& endpoint) {
  const bool stale = HasTrait(error.code, CodeTrait::kStaleCredentials);
  // A rejected session. A HEAD's 400 has no code.
  const bool of_session = endpoint.auth == AuthScheme::kSigV4Express &&
                          (stale || (info_.has_bare_errors() && error.http_status == 400));
  if ((!stale && !of_session) || renewed_) return false;
  if (of_session) {
    state_.process.sessions()->Drop(bucket_, credentials_);
  } else {
    state_.process.provider()->Forget(credentials_);
  }
  renewed_ = true;
  refused_ = std::make_unique<Error>(error);
  return true;
}

}  // namespace penstock::s3
