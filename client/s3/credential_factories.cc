// The public credentials providers: those of client/auth/providers on the transport, clock and
// environment of the process.
#include <atomic>
#include <memory>
#include <utility>

#include "base/process_id.h"
#include "client/auth/providers/container_provider.h"
#include "client/auth/providers/credentials.h"
#include "client/auth/providers/instance_metadata_provider.h"
#include "client/auth/providers/process_provider.h"
#include "client/auth/providers/profile_provider.h"
#include "client/auth/providers/sts_provider.h"
#include "client/s3/call/client_state.h"
#include "client/s3/endpoint/partition.h"

namespace penstock {
namespace {

// A provider that each process makes for itself: the locks of an inherited one may be held by a
// thread of the parent.
class PerProcessProvider final : public CredentialsProvider {
 public:
  explicit PerProcessProvider(std::function<auth::ProviderPtr()> make) : make_(std::move(make)) {}
  ~PerProcessProvider() override {
    const State* const state = current_.load(std::memory_order_acquire);
    if (state != nullptr && state->process == ProcessId()) delete state;
  }
  PerProcessProvider(const PerProcessProvider&) = delete;
  PerProcessProvider& operator=(const PerProcessProvider&) = delete;

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    const auth::ProviderPtr provider = Mine();  // The call in flight keeps it alive.
    provider->Start(std::move(done));
  }
  void Forget(const CredentialsPtr& refused) override { Mine()->Forget(refused); }

 private:
  struct State {
    int process;
    auth::ProviderPtr provider;
    const State* of_parent;  // Never used again, but reachable for leak checkers.
  };
  auth::ProviderPtr Mine() {
    const State* seen = current_.load(std::memory_order_acquire);
    while (seen == nullptr || seen->process != ProcessId()) {
      auto made = std::make_unique<const State>(State{ProcessId(), make_(), seen});
      if (current_.compare_exchange_strong(seen, made.get(), std::memory_order_acq_rel))
        return made.release()->provider;
    }
    return seen->provider;
  }

  const std::function<auth::ProviderPtr()> make_;
  std::atomic<const State*> current_{nullptr};
};

// Makes the provider in each process, with a cache.
CredentialsProviderPtr Cached(std::function<auth::ProviderPtr()> make) {
  return std::make_shared<PerProcessProvider>([make = std::move(make)]() -> auth::ProviderPtr {
    return auth::MakeCachedProvider(make(), SystemClock());
  });
}

// An endpoint in the options has the effect of AWS_ENDPOINT_URL_STS: it takes precedence over other
// variables, which take precedence over a profile. It is never ignored.
auth::Environment WithStsEndpoint(auth::Environment environment, const std::string& url) {
  auto variable = std::move(environment.variable);
  environment.variable = [variable, url](const std::string& name) -> std::optional<std::string> {
    if (name == "AWS_ENDPOINT_URL_STS") return url;
    if (name == "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") return std::nullopt;
    return variable(name);
  };
  return environment;
}

auth::RemoteContext ContextOf(const CredentialsOptions& options) {
  s3::ClientDependencies process = s3::ClientDependencies::PerProcess();
  auth::RemoteContext context;
  context.environment = std::move(process.environment);
  context.clock = process.clock;
  context.transport = std::move(process.transport);
  context.region = options.region;
  for (const char* const name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (context.region.empty()) context.region = context.environment.Get(name).value_or("");
  }
  context.dns_suffix = s3::PartitionOf(context.region).dns_suffix;
  context.ca_bundle_path = options.ca_bundle_path;
  if (context.ca_bundle_path.empty())
    context.ca_bundle_path = context.environment.Get("AWS_CA_BUNDLE").value_or("");
  if (!options.endpoint_url.empty())
    context.environment = WithStsEndpoint(std::move(context.environment), options.endpoint_url);
  return context;
}

auth::Role RoleOf(std::string arn, std::string session_name, std::string external_id,
                  const std::optional<std::chrono::seconds>& duration) {
  auth::Role role{std::move(arn), std::move(session_name), std::move(external_id), {}};
  if (duration) role.duration_seconds = static_cast<int>(duration->count());
  return role;
}

}  // namespace

CredentialsProviderPtr MakeStaticCredentials(Credentials credentials) {
  return auth::MakeStaticProvider(std::move(credentials));
}

CredentialsProviderPtr MakeAnonymousCredentials() { return auth::MakeAnonymousProvider(); }

CredentialsProviderPtr MakeEnvironmentCredentials() {
  return auth::MakeEnvironmentProvider(auth::Environment::PerProcess());
}

CredentialsProviderPtr MakeProfileCredentials(std::string profile, CredentialsOptions options) {
  return Cached([profile = std::move(profile), options = std::move(options)] {
    return auth::MakeProfileProvider(ContextOf(options), profile);
  });
}

CredentialsProviderPtr MakeDefaultCredentials(std::string profile, CredentialsOptions options) {
  return std::make_shared<PerProcessProvider>(
      [profile = std::move(profile), options = std::move(options)] {
        return auth::MakeDefaultProvider(ContextOf(options), profile);
      });
}

CredentialsProviderPtr MakeAssumeRoleCredentials(AssumeRoleOptions options) {
  if (options.source == nullptr) options.source = MakeDefaultCredentials({}, options.options);
  return Cached([options = std::move(options)] {
    return auth::MakeAssumeRoleProvider(
        ContextOf(options.options), /*endpoint_url=*/{},
        RoleOf(options.role_arn, options.session_name, options.external_id, options.duration),
        options.source);
  });
}

CredentialsProviderPtr MakeWebIdentityCredentials(WebIdentityOptions options) {
  return Cached([options = std::move(options)] {
    auth::RemoteContext context = ContextOf(options.options);
    const auto given = [&](const std::string& option, const char* name) {
      return option.empty() ? context.environment.Get(name).value_or("") : option;
    };
    std::string token_file = given(options.token_file, "AWS_WEB_IDENTITY_TOKEN_FILE");
    std::string arn = given(options.role_arn, "AWS_ROLE_ARN");
    // Reports which variable is missing.
    if (token_file.empty() || arn.empty())
      return auth::MakeWebIdentityEnvironmentProvider(std::move(context));
    std::string session = given(options.session_name, "AWS_ROLE_SESSION_NAME");
    return auth::MakeWebIdentityProvider(
        std::move(context), /*endpoint_url=*/{},
        RoleOf(std::move(arn), std::move(session), {}, options.duration), std::move(token_file));
  });
}

CredentialsProviderPtr MakeProcessCredentials(std::string command,
                                              std::chrono::milliseconds timeout) {
  return Cached([command = std::move(command), timeout] {
    return auth::MakeProcessProvider(command, timeout);
  });
}

CredentialsProviderPtr MakeContainerCredentials(CredentialsOptions options) {
  return Cached(
      [options = std::move(options)] { return auth::MakeContainerProvider(ContextOf(options)); });
}

CredentialsProviderPtr MakeInstanceCredentials(CredentialsOptions options) {
  return Cached([options = std::move(options)] {
    return auth::MakeInstanceMetadataProvider(ContextOf(options));
  });
}

CredentialsProviderPtr MakeCachedCredentials(CredentialsProviderPtr inner) {
  if (inner == nullptr) inner = MakeDefaultCredentials();
  return Cached([inner = std::move(inner)] { return inner; });
}

CredentialsProviderPtr MakeChainCredentials(std::vector<CredentialsChainLink> links) {
  std::vector<auth::ChainLink> chain;
  for (CredentialsChainLink& link : links) {
    if (link.provider == nullptr) link.provider = MakeDefaultCredentials();
    chain.push_back({std::move(link.name), std::move(link.provider)});
  }
  return auth::MakeChainProvider(std::move(chain));
}

}  // namespace penstock
