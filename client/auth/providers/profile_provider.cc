#include "client/auth/providers/profile_provider.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "client/auth/providers/container_provider.h"
#include "client/auth/providers/instance_metadata_provider.h"
#include "client/auth/providers/process_provider.h"
#include "client/auth/providers/provider_response.h"
#include "client/auth/providers/sso_provider.h"
#include "client/auth/providers/sts_provider.h"

namespace penstock::auth {
namespace {

std::string Get(const Section& section, std::string_view name) {
  return section.Find(name).value_or("");
}

// Returns the first of `names` that the profile sets, or empty.
std::string_view FirstSet(const Section& profile, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!Get(profile, name).empty()) return name;
  }
  return {};
}

std::string Join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : ", ").append(part);
  return out;
}

// Converts the settings of profiles to a provider. Sends no requests.
class Resolver {
 public:
  Resolver(const RemoteContext& context, const ProfileSet& set) : context_(context), set_(set) {}

  Result<ProviderPtr> Resolve(const std::string& name, const Section& profile) {
    visited_.push_back(name);
    if (!Get(profile, "role_arn").empty()) return Role(name, profile);
    if (!Get(profile, "web_identity_token_file").empty())
      return In(name, "has web_identity_token_file but no role_arn");
    if (!FirstSet(profile, {"sso_session", "sso_account_id", "sso_role_name", "sso_start_url"})
             .empty()) {
      return Sso(name, profile);
    }
    const std::string process = Get(profile, "credential_process");
    if (profile.from_credentials_file.count("aws_access_key_id") == 0 && !process.empty()) {
      return MakeProcessProvider(process);
    }
    return Keys(name, profile);
  }

 private:
  static Error In(const std::string& name, const std::string& message) {
    return Unusable("profile '" + name + "' " + message);
  }

  Result<ProviderPtr> Keys(const std::string& name, const Section& profile) const {
    const std::string id = Get(profile, "aws_access_key_id");
    const std::string secret = Get(profile, "aws_secret_access_key");
    if (id.empty() && secret.empty()) {
      return NotConfigured("profile '" + name + "' sets no credentials");
    }
    if (id.empty()) return In(name, "sets aws_secret_access_key but not aws_access_key_id");
    if (secret.empty()) return In(name, "sets aws_access_key_id but not aws_secret_access_key");
    return MakeStaticProvider({id, secret, Get(profile, "aws_session_token"), {}});
  }

  Result<ProviderPtr> Role(const std::string& name, const Section& profile) {
    auth::Role role{Get(profile, "role_arn"),
                    Get(profile, "role_session_name"),
                    Get(profile, "external_id"),
                    {}};
    const std::string seconds = Get(profile, "duration_seconds");
    if (!seconds.empty()) {
      int value = 0;
      const auto [end, error] =
          std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
      if (error != std::errc{} || end != seconds.data() + seconds.size() || value < 900 ||
          value > 43200) {
        return In(name, "has duration_seconds '" + seconds + "'; STS allows 900 to 43200");
      }
      role.duration_seconds = value;
    }
    const std::string sts = set_.FindServiceSetting(profile, "sts", "endpoint_url")
                                .value_or(Get(profile, "endpoint_url"));
    if (const std::string file = Get(profile, "web_identity_token_file"); !file.empty()) {
      return MakeWebIdentityProvider(context_, sts, std::move(role), file);
    }
    if (!Get(profile, "mfa_serial").empty()) {
      return Error::Make(ErrorKind::kUnsupported,
                         "profile '" + name + "' sets mfa_serial, and MFA is not supported; set " +
                             "session credentials in the environment or use credential_process");
    }
    PENSTOCK_ASSIGN(ProviderPtr source, Source(name, profile));
    return MakeAssumeRoleProvider(context_, sts, std::move(role), std::move(source));
  }

  // Returns the provider of the credentials that assume the role.
  Result<ProviderPtr> Source(const std::string& name, const Section& profile) {
    const std::string other = Get(profile, "source_profile");
    const std::string place = Get(profile, "credential_source");
    if (other.empty() == place.empty()) {
      return In(name, "has role_arn and " + std::string(other.empty() ? "neither" : "both") +
                          " of source_profile and credential_source; set exactly one");
    }
    if (place == "Environment") return MakeEnvironmentProvider(context_.environment);
    if (place == "EcsContainer") return MakeContainerProvider(context_);
    if (place == "Ec2InstanceMetadata") return MakeInstanceMetadataProvider(context_);
    if (!place.empty()) {
      return In(name, "has credential_source '" + place +
                          "'; use Environment, Ec2InstanceMetadata or EcsContainer");
    }
    const Section* const found = set_.FindProfile(other);
    if (found == nullptr)
      return In(name, "names the source_profile '" + other + "', which does not exist");
    if (other == name)
      return Keys(name, profile);  // The profile assumes its role with its own keys.
    if (std::find(visited_.begin(), visited_.end(), other) != visited_.end()) {
      return In(name, "names the source_profile '" + other + "', which refers back to it");
    }
    return Resolve(other, *found);
  }

  Result<ProviderPtr> Sso(const std::string& name, const Section& profile) const {
    SsoRole role{Get(profile, "sso_session"), Get(profile, "sso_start_url"),
                 Get(profile, "sso_region"), Get(profile, "sso_account_id"),
                 Get(profile, "sso_role_name")};
    if (!role.session.empty()) {
      const auto session = set_.sso_sessions.find(role.session);
      if (session == set_.sso_sessions.end()) {
        return In(name, "names the sso_session '" + role.session + "', which does not exist");
      }
      role.start_url = Get(session->second, "sso_start_url");
      role.region = Get(session->second, "sso_region");
    }
    for (const auto& [setting, value] :
         {std::pair{"sso_start_url", role.start_url}, std::pair{"sso_region", role.region},
          std::pair{"sso_account_id", role.account_id},
          std::pair{"sso_role_name", role.role_name}}) {
      if (value.empty()) return In(name, std::string("uses SSO but does not set ") + setting);
    }
    return MakeSsoProvider(context_, std::move(role));
  }

  const RemoteContext& context_;
  const ProfileSet& set_;
  std::vector<std::string> visited_;
};

class ProfileProvider final : public CredentialsProvider {
 public:
  ProfileProvider(RemoteContext context, std::string profile_name)
      : context_(std::move(context)), profile_name_(std::move(profile_name)) {}

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    Result<ProviderPtr> provider = Find();
    if (!provider.ok()) return done(std::move(provider).error());
    // Kept alive until it has returned its result.
    (*provider)->Start(
        [provider = *provider, done = std::move(done)](Result<CredentialsPtr> result) {
          // If the profile is configured, the chain must not continue with another identity.
          if (!result.ok() && result.error().kind == ErrorKind::kNotFound)
            result = Unusable(result.error().message);
          done(std::move(result));
        });
  }

 private:
  Result<ProviderPtr> Find() const {
    const std::string name = SelectProfileName(context_.environment, profile_name_);
    PENSTOCK_ASSIGN(const ProfileSet set, LoadProfiles(context_.environment));
    const Section* profile = set.FindProfile(name);
    if (profile != nullptr) return Resolver(context_, set).Resolve(name, *profile);
    std::vector<std::string> files = set.files_read;
    for (const std::string& missing : set.files_missing)
      files.push_back(missing + " (no such file)");
    std::string message = "no profile '" + name + "' in " + Join(files);
    const bool asked_for = !profile_name_.empty() || context_.environment.Get("AWS_PROFILE") ||
                           context_.environment.Get("AWS_DEFAULT_PROFILE");
    return asked_for ? Unusable(std::move(message)) : NotConfigured(std::move(message));
  }

  const RemoteContext context_;
  const std::string profile_name_;
};

}  // namespace

ProviderPtr MakeProfileProvider(RemoteContext context, std::string profile_name) {
  return std::make_shared<ProfileProvider>(std::move(context), std::move(profile_name));
}

}  // namespace penstock::auth
