#include "client/s3/call/client_state.h"

#include <algorithm>
#include <utility>

#include "client/http/byte_rate.h"
#include "client/http/reactor/http_transport.h"
#include "client/s3/attempt/attempt_request.h"
#include "client/s3/call/signing_credentials.h"

namespace penstock::s3 {
namespace {

BuildContext MakeBuildContext(const ResolvedConfig& config) {
  return {config.client.region, config.client.requester_pays, config.upload_checksums,
          config.verify_downloads};
}

std::shared_ptr<const http::ConnectSettings> MakeConnectSettings(const ClientConfig& config) {
  if (config.ca_directory_path.empty() && config.client_certificate_path.empty() && !config.proxy &&
      !config.max_bytes_per_second) {
    return nullptr;
  }
  auto settings = std::make_shared<http::ConnectSettings>();
  settings->ca_directory_path = config.ca_directory_path;
  settings->client_certificate_path = config.client_certificate_path;
  settings->client_key_path = config.client_key_path;
  settings->client_key_password = config.client_key_password;
  if (config.proxy) {
    settings->proxy_url = config.proxy->url;
    settings->no_proxy = config.proxy->no_proxy;
  }
  if (config.max_bytes_per_second)
    settings->rate = std::make_shared<http::ByteRate>(*config.max_bytes_per_second);
  return settings;
}

}  // namespace

ClientDependencies ClientDependencies::PerProcess(int io_threads, int max_connections) {
  const int threads = std::clamp(io_threads, 0, http::kMaxIoThreads);
  const int connections = std::clamp(max_connections, 0, http::kMaxConnections);
  return {[threads, connections] { return http::SharedTransport(threads, connections); },
          &SystemClock(), MakeRandomBits(), auth::Environment::PerProcess()};
}

ClientState::ClientState(ResolvedConfig resolved, ClientDependencies outside)
    : config(std::move(resolved)),
      dependencies(std::move(outside)),
      build_context(MakeBuildContext(config)),
      connect(MakeConnectSettings(config.client)),
      user_agent(MakeUserAgent(config.client.user_agent)),
      process(ProviderMakerOf(config, dependencies), *dependencies.clock) {}

}  // namespace penstock::s3
