#include "client/auth/credentials.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/dates.h"

namespace penstock::auth {
namespace {

Error NothingHere(std::string message) { return Error::Make(ErrorKind::kNotFound, std::move(message)); }
Error Unusable(std::string message) { return Error::Make(ErrorKind::kUnauthenticated, std::move(message)); }

Result<CredentialsPtr> Share(Credentials credentials) {
  return CredentialsPtr(std::make_shared<const Credentials>(std::move(credentials)));
}

class StaticProvider final : public CredentialsProvider {
 public:
  explicit StaticProvider(Credentials credentials) : credentials_(std::make_shared<const Credentials>(std::move(credentials))) {}
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    if (credentials_->access_key_id.empty() || credentials_->secret_access_key.empty()) {
      return done(Unusable("the credentials given need both an access key id and a secret access key"));
    }
    done(credentials_);
  }

 private:
  const CredentialsPtr credentials_;  // shared with every request that is signed with them
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
    if (!id && !secret) return NothingHere("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
    if (!id) return Unusable("AWS_SECRET_ACCESS_KEY is set but AWS_ACCESS_KEY_ID is not; set both or neither");
    if (!secret) return Unusable("AWS_ACCESS_KEY_ID is set but AWS_SECRET_ACCESS_KEY is not; set both or neither");
    Credentials found{*id, *secret, {}, {}};
    // AWS_SECURITY_TOKEN is the old name.
    if (auto token = environment_.Get("AWS_SESSION_TOKEN")) {
      found.session_token = *token;
    } else {
      found.session_token = environment_.Get("AWS_SECURITY_TOKEN").value_or("");
    }
    if (const auto expiry = environment_.Get("AWS_CREDENTIAL_EXPIRATION")) {
      found.expires_at = ParseIso8601(*expiry);
      if (!found.expires_at) {
        return Unusable("AWS_CREDENTIAL_EXPIRATION is '" + *expiry + "', not an ISO 8601 time as 2026-01-02T03:04:05Z");
      }
    }
    return Share(std::move(found));
  }

  const Environment environment_;
};

// The first of `names` that the profile sets, or empty.
std::string_view FirstSet(const Section& profile, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto value = profile.Find(name); value && !value->empty()) return name;
  }
  return {};
}

std::string Join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : ", ").append(part);
  return out;
}

class ProfileProvider final : public CredentialsProvider {
 public:
  ProfileProvider(Environment environment, std::string profile_name)
      : environment_(std::move(environment)), profile_name_(std::move(profile_name)) {}
  void Start(std::function<void(Result<CredentialsPtr>)> done) override { done(Read()); }

 private:
  Result<CredentialsPtr> Read() const {
    const std::string name = SelectProfileName(environment_, profile_name_);
    PENSTOCK_ASSIGN(const ProfileSet set, LoadProfiles(environment_));
    const Section* profile = set.FindProfile(name);
    if (profile != nullptr) return FromProfile(name, *profile);
    std::vector<std::string> files = set.files_read;
    for (const std::string& missing : set.files_missing) files.push_back(missing + " (no such file)");
    std::string message = "no profile '" + name + "' in " + Join(files);
    const bool asked_for = !profile_name_.empty() || environment_.Get("AWS_PROFILE") ||
                           environment_.Get("AWS_DEFAULT_PROFILE");
    if (asked_for) return Unusable(std::move(message));
    return NothingHere(std::move(message));
  }

  // In botocore's order (§3.4): what is not supported must not be passed over for a weaker identity.
  static Result<CredentialsPtr> FromProfile(const std::string& name, const Section& profile) {
    const std::string_view federated =
        FirstSet(profile, {"role_arn", "web_identity_token_file", "sso_session", "sso_account_id", "sso_role_name",
                           "sso_start_url"});
    if (!federated.empty()) return Unsupported(name, federated);
    const bool keys_in_credentials_file = profile.from_credentials_file.count("aws_access_key_id") != 0;
    if (!keys_in_credentials_file && !FirstSet(profile, {"credential_process"}).empty()) {
      return Unsupported(name, "credential_process");
    }
    const std::string id = profile.Find("aws_access_key_id").value_or("");
    const std::string secret = profile.Find("aws_secret_access_key").value_or("");
    if (id.empty() && secret.empty()) return NothingHere("profile '" + name + "' sets no credentials");
    if (id.empty()) return Unusable("profile '" + name + "' sets aws_secret_access_key but not aws_access_key_id");
    if (secret.empty()) return Unusable("profile '" + name + "' sets aws_access_key_id but not aws_secret_access_key");
    return Share({id, secret, profile.Find("aws_session_token").value_or(""), {}});
  }

  static Error Unsupported(const std::string& name, std::string_view setting) {
    return Error::Make(ErrorKind::kUnsupported, "profile '" + name + "' gets its credentials through " +
                                                    std::string(setting) +
                                                    ", which is not supported; give keys in the profile, in "
                                                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the program");
  }

  const Environment environment_;
  const std::string profile_name_;
};

class ChainProvider final : public CredentialsProvider {
 public:
  explicit ChainProvider(std::vector<ChainLink> links)
      : links_(std::make_shared<const std::vector<ChainLink>>(std::move(links))) {}

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    auto search = std::make_shared<Search>();
    search->links = links_;
    search->done = std::move(done);
    Ask(search, 0);
  }

 private:
  // One walk along the chain, shared by the callbacks of its links.
  struct Search {
    std::shared_ptr<const std::vector<ChainLink>> links;
    std::function<void(Result<CredentialsPtr>)> done;
    std::string looked_at;
  };

  static void Ask(const std::shared_ptr<Search>& search, std::size_t index) {
    if (index == search->links->size()) {
      return search->done(Unusable("no credentials found; looked at " + search->looked_at));
    }
    (*search->links)[index].provider->Start([search, index](Result<CredentialsPtr> result) {
      if (result.ok() || result.error().kind != ErrorKind::kNotFound) return search->done(std::move(result));
      search->looked_at.append(search->looked_at.empty() ? "" : "; ")
          .append((*search->links)[index].place)
          .append(": ")
          .append(result.error().message);
      Ask(search, index + 1);
    });
  }

  const std::shared_ptr<const std::vector<ChainLink>> links_;  // shared with searches in progress
};

}  // namespace

ProviderPtr MakeStaticProvider(Credentials credentials) {
  return std::make_shared<StaticProvider>(std::move(credentials));
}

ProviderPtr MakeAnonymousProvider() { return std::make_shared<AnonymousProvider>(); }

ProviderPtr MakeEnvironmentProvider(Environment environment) {
  return std::make_shared<EnvironmentProvider>(std::move(environment));
}

ProviderPtr MakeProfileProvider(Environment environment, std::string profile_name) {
  return std::make_shared<ProfileProvider>(std::move(environment), std::move(profile_name));
}

ProviderPtr MakeChainProvider(std::vector<ChainLink> links) {
  return std::make_shared<ChainProvider>(std::move(links));
}

ProviderPtr MakeDefaultProvider(Environment environment, std::string explicit_profile, const Clock& clock) {
  std::vector<ChainLink> links;
  if (explicit_profile.empty()) links.push_back({"the environment", MakeEnvironmentProvider(environment)});
  links.push_back({"the profile files", MakeProfileProvider(std::move(environment), std::move(explicit_profile))});
  return MakeCachedProvider(MakeChainProvider(std::move(links)), clock);
}

}  // namespace penstock::auth
