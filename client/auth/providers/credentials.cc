#include "client/auth/providers/credentials.h"

#include <atomic>
#include <memory>
#include <utility>

#include "base/dates.h"
#include "base/log/caught.h"
#include "client/auth/providers/container_provider.h"
#include "client/auth/providers/instance_metadata_provider.h"
#include "client/auth/providers/profile_provider.h"
#include "client/auth/providers/provider_response.h"
#include "client/auth/providers/sts_provider.h"

namespace penstock::auth {
namespace {

class StaticProvider final : public CredentialsProvider {
 public:
  explicit StaticProvider(Credentials credentials)
      : credentials_(std::make_shared<const Credentials>(std::move(credentials))) {}
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    if (credentials_->access_key_id.empty() || credentials_->secret_access_key.empty()) {
      return done(Unusable("the credentials need both an access key id and a secret access key"));
    }
    done(credentials_);
  }

 private:
  const CredentialsPtr credentials_;  // Shared with every request that they sign.
};

class AnonymousProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)> done) override { done(CredentialsPtr()); }
};

class EnvironmentProvider final : public CredentialsProvider {
 public:
  explicit EnvironmentProvider(Environment environment) : environment_(std::move(environment)) {}
  void Start(std::function<void(Result<CredentialsPtr>)> done) override { done(Read()); }

 private:
  Result<CredentialsPtr> Read() const {
    const auto id = environment_.Get("AWS_ACCESS_KEY_ID");
    const auto secret = environment_.Get("AWS_SECRET_ACCESS_KEY");
    if (!id && !secret)
      return NotConfigured("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
    if (!id)
      return Unusable(
          "AWS_SECRET_ACCESS_KEY is set but AWS_ACCESS_KEY_ID is not; set both or neither");
    if (!secret)
      return Unusable(
          "AWS_ACCESS_KEY_ID is set but AWS_SECRET_ACCESS_KEY is not; set both or neither");
    for (const char* variable : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
                                 "AWS_SECURITY_TOKEN"}) {
      if (environment_.Get(variable).value_or("").find_first_of("\r\n") != std::string::npos)
        return Unusable(std::string(variable) + " contains a line break; it must be one line");
    }
    Credentials found{*id, *secret, {}, {}};
    // AWS_SECURITY_TOKEN is the older name.
    if (auto token = environment_.Get("AWS_SESSION_TOKEN")) {
      found.session_token = *token;
    } else {
      found.session_token = environment_.Get("AWS_SECURITY_TOKEN").value_or("");
    }
    if (const auto expiry = environment_.Get("AWS_CREDENTIAL_EXPIRATION")) {
      found.expires_at = ParseIso8601(*expiry);
      if (!found.expires_at) {
        return Unusable("AWS_CREDENTIAL_EXPIRATION is '" + *expiry +
                        "', not an ISO 8601 time such as 2026-01-02T03:04:05Z");
      }
    }
    return Found(std::move(found));
  }

  const Environment environment_;
};

class ChainProvider final : public CredentialsProvider {
 public:
  explicit ChainProvider(std::vector<ChainLink> links)
      : links_(std::make_shared<const std::vector<ChainLink>>(std::move(links))) {}

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    auto search = std::make_shared<Search>();
    search->links = links_;
    search->done = std::move(done);
    TryProvider(search, 0);
  }

  void Forget(const CredentialsPtr& refused) override {
    for (const ChainLink& link : *links_) link.provider->Forget(refused);
  }

 private:
  // One search of the chain, shared by the callbacks of its links.
  struct Search {
    std::shared_ptr<const std::vector<ChainLink>> links;
    std::function<void(Result<CredentialsPtr>)> done;
    std::string tried;
  };

  static void TryProvider(const std::shared_ptr<Search>& search, std::size_t index) {
    if (index == search->links->size()) {
      return search->done(Unusable("no credentials found; tried " + search->tried));
    }
    const auto completed = std::make_shared<std::atomic<bool>>(false);
    // Contains exceptions: this may run in the callback of another link.
    Result<void> started = Caught("the credentials provider", [&] {
      (*search->links)[index].provider->Start([=](Result<CredentialsPtr> result) {
        if (!completed->exchange(true)) Continue(search, index, std::move(result));
      });
    });
    if (!started.ok() && !completed->exchange(true)) search->done(std::move(started).error());
  }

  static void Continue(const std::shared_ptr<Search>& search, std::size_t index,
                       Result<CredentialsPtr> result) {
    if (result.ok() || result.error().kind != ErrorKind::kNotFound)
      return search->done(std::move(result));
    search->tried.append(search->tried.empty() ? "" : "; ")
        .append((*search->links)[index].place)
        .append(": ")
        .append(result.error().message);
    TryProvider(search, index + 1);
  }

  const std::shared_ptr<const std::vector<ChainLink>> links_;  // Shared with searches in progress.
};

}  // namespace

ProviderPtr MakeStaticProvider(Credentials credentials) {
  return std::make_shared<StaticProvider>(std::move(credentials));
}

ProviderPtr MakeAnonymousProvider() { return std::make_shared<AnonymousProvider>(); }

ProviderPtr MakeEnvironmentProvider(Environment environment) {
  return std::make_shared<EnvironmentProvider>(std::move(environment));
}

ProviderPtr MakeChainProvider(std::vector<ChainLink> links) {
  return std::make_shared<ChainProvider>(std::move(links));
}

ProviderPtr MakeDefaultProvider(const RemoteContext& context, std::string explicit_profile) {
  std::vector<ChainLink> links;
  if (explicit_profile.empty())
    links.push_back({"the environment", MakeEnvironmentProvider(context.environment)});
  links.push_back({"the profile files", MakeProfileProvider(context, std::move(explicit_profile))});
  links.push_back({"web identity", MakeWebIdentityEnvironmentProvider(context)});
  links.push_back({"the container", MakeContainerProvider(context)});
  links.push_back({"the instance", MakeInstanceMetadataProvider(context)});
  return MakeCachedProvider(MakeChainProvider(std::move(links)), *context.clock);
}

}  // namespace penstock::auth
