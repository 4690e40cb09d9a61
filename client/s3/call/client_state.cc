#include "client/s3/call/client_state.h"

#include <utility>

#include "client/http/reactor/http_transport.h"
#include "client/s3/attempt/attempt_request.h"
#include "client/s3/call/signing_credentials.h"

namespace penstock::s3 {
namespace {

BuildContext MakeBuildContext(const ResolvedConfig& config) {
  return {config.client.region, config.client.requester_pays, config.upload_checksums,
          config.verify_downloads};
}

}  // namespace

ClientDependencies ClientDependencies::PerProcess() {
  return {[] { return http::SharedTransport(); }, &SystemClock(), MakeRandomBits(),
          auth::Environment::PerProcess()};
}

ClientState::ClientState(ResolvedConfig resolved, ClientDependencies outside)
    : config(std::move(resolved)),
      dependencies(std::move(outside)),
      build_context(MakeBuildContext(config)),
      user_agent(MakeUserAgent(config.client.user_agent)),
      process(ProviderMakerOf(config, dependencies), *dependencies.clock) {}

}  // namespace penstock::s3
