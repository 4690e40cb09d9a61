#include "client/auth/providers/instance_metadata_provider.h"

#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "client/auth/providers/credential_document.h"
#include "client/auth/providers/provider_response.h"
#include "client/http/transport.h"

namespace penstock::auth {
namespace {

constexpr const char* kRolePath = "/latest/meta-data/iam/security-credentials/";
// botocore's ec2_credential_refresh_window. Up to the same time is added.
constexpr std::chrono::seconds kRefreshWindow{600};

using Done = std::function<void(Result<CredentialsPtr>)>;

Result<bool> Flag(const Environment& environment, const char* name) {
  const std::string value = environment.Get(name).value_or("false");
  if (http::EqualsIgnoringCase(value, "true")) return true;
  if (http::EqualsIgnoringCase(value, "false")) return false;
  return Unusable(std::string(name) + " must be true or false, not `" + value + "`");
}

Result<int> PositiveNumber(const Environment& environment, const char* name, int otherwise) {
  const auto text = environment.Get(name);
  if (!text) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < 1 || value > 3600) {
    return Unusable(std::string(name) + " is '" + *text + "'; use a whole number from 1 to 3600");
  }
  return value;
}

struct Settings {
  std::string base;  // "http://host", without a trailing slash.
  std::chrono::milliseconds timeout{};
  int attempts = 1;
  bool version_1 = true;
};

Result<Settings> ReadSettings(const Environment& environment) {
  Settings out;
  const std::string mode =
      environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or("IPv4");
  if (mode != "IPv4" && mode != "ipv4" && mode != "IPv6" && mode != "ipv6") {
    return Unusable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is '" + mode + "'; use IPv4 or IPv6");
  }
  const bool six = mode.back() == '6';
  out.base = environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT")
                 .value_or(six ? "http://[fd00:ec2::254]" : "http://169.254.169.254");
  while (out.base.ends_with('/')) out.base.pop_back();
  PENSTOCK_ASSIGN(const int seconds,
                  PositiveNumber(environment, "AWS_METADATA_SERVICE_TIMEOUT", 1));
  out.timeout = std::chrono::seconds(seconds);
  PENSTOCK_ASSIGN(out.attempts,
                  PositiveNumber(environment, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", 1));
  PENSTOCK_ASSIGN(const bool without_version_1, Flag(environment, "AWS_EC2_METADATA_V1_DISABLED"));
  out.version_1 = !without_version_1;
  return out;
}

// One fetch: token, role, credentials.
class MetadataFetch : public std::enable_shared_from_this<MetadataFetch> {
 public:
  MetadataFetch(const RemoteContext& context, Settings settings, Done done)
      : transport_(context.transport()),
        clock_(*context.clock),
        settings_(std::move(settings)),
        done_(std::move(done)) {}

  void RequestToken() {
    Send("PUT", "/latest/api/token", {"x-aws-ec2-metadata-token-ttl-seconds", "21600"},
         [self = shared_from_this()](Result<SmallResponse> response) {
           self->OnToken(std::move(response));
         });
  }

 private:
  void Send(const char* method, const std::string& path, http::Header header,
            std::function<void(Result<SmallResponse>)> then) {
    Result<http::Request> request = RequestTo(method, settings_.base + path, {});
    if (!request.ok()) {
      return End(Unusable("AWS_EC2_METADATA_SERVICE_ENDPOINT: " + request.error().message));
    }
    SmallRequest small;
    small.request = std::move(request).value();
    if (!header.value.empty()) small.request.headers.push_back(std::move(header));
    small.request.connect_timeout = settings_.timeout;
    small.attempt_timeout = settings_.timeout;
    small.attempts = settings_.attempts;
    FetchSmall(transport_, clock_, std::move(small), std::move(then));
  }

  http::Header TokenHeader() const { return {"x-aws-ec2-metadata-token", token_}; }

  void OnToken(Result<SmallResponse> response) {
    const bool timed_out = !response.ok() && response.error().kind == ErrorKind::kTimeout;
    if (!response.ok() && !timed_out)
      return End(NotConfigured("no instance metadata service at " + settings_.base));
    const int status = timed_out ? 0 : response->status;
    if (status == 200) {
      token_ = std::move(response->body);
    } else if (status != 0 && status != 403 && status != 404 && status != 405) {
      return End(Unusable("the instance metadata service returned " + std::to_string(status) +
                          " for the token request"));
    } else if (!settings_.version_1) {
      return End(
          NotConfigured("the instance metadata service returned no token, and "
                        "AWS_EC2_METADATA_V1_DISABLED does not allow version 1"));
    }
    RequestRole();
  }

  void RequestRole() {
    Send("GET", kRolePath, TokenHeader(),
         [self = shared_from_this()](Result<SmallResponse> response) {
           self->OnRole(std::move(response));
         });
  }

  void OnRole(Result<SmallResponse> response) {
    if (!response.ok())
      return End(NotConfigured("no instance metadata service at " + settings_.base));
    if (RestartWithNewToken(*response)) return;
    const std::string role = response->status == 200
                                 ? response->body.substr(0, response->body.find('\n'))
                                 : std::string();
    if (role.empty()) return End(NotConfigured("the instance has no role"));
    Send("GET", kRolePath + role, TokenHeader(),
         [self = shared_from_this()](Result<SmallResponse> credentials) {
           self->OnCredentials(std::move(credentials));
         });
  }

  // Requests a new token once if the current one is rejected.
  bool RestartWithNewToken(const SmallResponse& response) {
    if (response.status != 401 || std::exchange(restarted_, true)) return false;
    token_.clear();
    RequestToken();
    return true;
  }

  void OnCredentials(Result<SmallResponse> response) {
    const std::string source = "the instance metadata service";
    if (!response.ok()) return End(Unusable(source + ": " + response.error().message));
    if (RestartWithNewToken(*response)) return;
    if (response->status != 200)
      return End(NotConfigured(source + " returned " + std::to_string(response->status)));
    auto members = ReadFlatObject(response->body);
    if (!members.ok()) return End(Unusable(source + ": " + members.error().message));
    const auto code = members->find("Code");
    if (code != members->end() && code->second != "Success") {
      return End(NotConfigured(source + " has no credentials: " + code->second));
    }
    Result<Credentials> found = CredentialsOf(*std::move(members), "Token", source);
    if (!found.ok()) return End(std::move(found).error());
    End(Found(ExtendExpiry(std::move(found).value())));
  }

  // If the service cannot renew credentials, it returns the old ones, and S3 still accepts them.
  Credentials ExtendExpiry(Credentials found) const {
    if (!found.expires_at) return found;
    const auto now = clock_.Now();
    const auto jitter =
        std::chrono::seconds(120 + std::hash<std::string>()(found.access_key_id) % 481);
    const auto more = kRefreshWindow + jitter;
    if (now >= *found.expires_at - more) found.expires_at = now + more;
    return found;
  }

  void End(Result<CredentialsPtr> result) { std::exchange(done_, nullptr)(std::move(result)); }

  const TransportPtr transport_;
  const Clock& clock_;
  const Settings settings_;
  Done done_;
  std::string token_;  // Empty: version 1.
  bool restarted_ = false;
};

class InstanceMetadataProvider final : public CredentialsProvider {
 public:
  explicit InstanceMetadataProvider(RemoteContext context) : context_(std::move(context)) {}

  void Start(Done done) override {
    Result<bool> disabled = Flag(context_.environment, "AWS_EC2_METADATA_DISABLED");
    if (!disabled.ok()) return done(std::move(disabled).error());
    if (*disabled) return done(NotConfigured("AWS_EC2_METADATA_DISABLED is true"));
    Result<Settings> settings = ReadSettings(context_.environment);
    if (!settings.ok()) return done(std::move(settings).error());
    std::make_shared<MetadataFetch>(context_, std::move(settings).value(), std::move(done))
        ->RequestToken();
  }

 private:
  const RemoteContext context_;
};

}  // namespace

ProviderPtr MakeInstanceMetadataProvider(RemoteContext context) {
  return std::make_shared<InstanceMetadataProvider>(std::move(context));
}

}  // namespace penstock::auth
