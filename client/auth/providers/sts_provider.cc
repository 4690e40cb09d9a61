#include "client/auth/providers/sts_provider.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/dates.h"
#include "base/text/redact.h"
#include "base/xml/xml.h"
#include "client/auth/providers/provider_response.h"
#include "client/auth/signer.h"
#include "client/http/uri.h"

namespace penstock::auth {
namespace {

using Done = std::function<void(Result<CredentialsPtr>)>;

constexpr const char* kForm = "application/x-www-form-urlencoded; charset=utf-8";

http::QueryParameters CommonFields(const RemoteContext& context, const char* action,
                                   const Role& role) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(context.clock->Now().time_since_epoch())
          .count();
  http::QueryParameters fields = {
      {"Action", action},
      {"Version", "2011-06-15"},
      {"RoleArn", role.arn},
      {"RoleSessionName",
       role.session_name.empty() ? "penstock-" + std::to_string(seconds) : role.session_name}};
  if (role.duration_seconds)
    fields.emplace_back("DurationSeconds", std::to_string(*role.duration_seconds));
  return fields;
}

std::string EndpointOf(const RemoteContext& context, const std::string& configured) {
  for (const auto& given : {context.environment.Get("AWS_ENDPOINT_URL_STS"),
                            context.environment.Get("AWS_ENDPOINT_URL")}) {
    if (given &&
        context.environment.Get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").value_or("") != "true")
      return *given;
  }
  if (!configured.empty()) return configured;
  if (context.region.empty()) return "https://sts.amazonaws.com";
  return "https://sts." + context.region + "." + context.dns_suffix;
}

Result<SmallRequest> StsRequest(const RemoteContext& context, const std::string& endpoint_url,
                                const http::QueryParameters& fields) {
  auto request = RequestTo("POST", EndpointOf(context, endpoint_url), context.ca_bundle_path);
  if (!request.ok()) return Unusable("the endpoint of STS: " + request.error().message);
  SmallRequest out;
  out.request = std::move(request).value();
  out.request.headers.push_back({"Content-Type", kForm});
  out.body = http::BuildQuery(fields);
  // Retryable according to STS: the identity provider may respond slowly, or the token may not have
  // been propagated yet.
  out.transient = [](const SmallResponse& response) {
    return response.status != 200 &&
           (response.body.find("IDPCommunicationError") != std::string::npos ||
            response.body.find("InvalidIdentityToken") != std::string::npos ||
            response.body.find("Throttling") != std::string::npos);
  };
  return out;
}

// `secrets`: of the request, which the service may repeat in a message.
Result<CredentialsPtr> ReadResponse(const std::string& action, const Role& role,
                                    const std::vector<std::string>& secrets,
                                    const Result<SmallResponse>& response) {
  const std::string what = action + " of " + role.arn;
  if (!response.ok()) return Unusable(what + ": " + response.error().message);
  const auto document = XmlDocument::Parse(response->body);
  const auto status = std::to_string(response->status);
  if (!document.ok())
    return Unusable(what + ": STS returned " + status + " without an XML document");
  if (response->status != 200) {
    const XmlElement error = document->root().Child("Error");
    std::string text = Redact(error.Child("Code").text() + ": " + error.Child("Message").text());
    for (const std::string& secret : secrets) internal::RedactValue(text, secret);
    return Unusable(what + ": STS returned " + status + " " + text);
  }
  const XmlElement given = document->root().Child(action + "Result").Child("Credentials");
  Credentials found{given.Child("AccessKeyId").text(), given.Child("SecretAccessKey").text(),
                    given.Child("SessionToken").text(),
                    ParseIso8601(given.Child("Expiration").text())};
  if (found.access_key_id.empty() || found.secret_access_key.empty() ||
      found.session_token.empty() || !found.expires_at) {
    return Unusable(what + ": the response of STS has no key, no token or no expiry");
  }
  return Found(std::move(found));
}

void SendToSts(const RemoteContext& context, const char* action, const Role& role,
               std::vector<std::string> secrets, Result<SmallRequest> request, Done done) {
  if (!request.ok()) return done(std::move(request).error());
  FetchSmall(
      context.transport(), *context.clock, std::move(request).value(),
      [action = std::string(action), role, secrets = std::move(secrets), done = std::move(done)](
          Result<SmallResponse> response) { done(ReadResponse(action, role, secrets, response)); });
}

class AssumeRoleProvider final : public CredentialsProvider,
                                 public std::enable_shared_from_this<AssumeRoleProvider> {
 public:
  AssumeRoleProvider(RemoteContext context, std::string endpoint_url, Role role, ProviderPtr source)
      : context_(std::move(context)),
        endpoint_url_(std::move(endpoint_url)),
        role_(std::move(role)),
        source_(std::move(source)) {}

  void Start(Done done) override {
    source_->Start(
        [self = shared_from_this(), done = std::move(done)](Result<CredentialsPtr> source) {
          if (source.ok() && *source != nullptr)
            return self->Assume(std::move(source).value(), done);
          if (source.ok()) {
            return done(Unusable("cannot assume " + self->role_.arn +
                                 ": its source has anonymous credentials, which cannot sign"));
          }
          // A configured role must not fall back to another identity.
          done(Unusable("the credentials to assume " + self->role_.arn +
                        " with: " + source.error().message));
        });
  }

 private:
  void Assume(CredentialsPtr source, Done done) {
    http::QueryParameters fields = CommonFields(context_, "AssumeRole", role_);
    if (!role_.external_id.empty()) fields.emplace_back("ExternalId", role_.external_id);
    Result<SmallRequest> request = StsRequest(context_, endpoint_url_, fields);
    std::vector<std::string> secrets{source->secret_access_key, source->session_token};
    if (request.ok()) {
      request->prepare = [source = std::move(source), clock = context_.clock,
                          hash = PayloadSha256(AsBytes(request->body)),
                          region = context_.region.empty() ? "us-east-1" : context_.region](
                             http::Request& attempt) {
        return Signer({.region = region, .service = "sts"})
            .Sign(attempt, *source, {clock->Now(), hash});
      };
    }
    SendToSts(context_, "AssumeRole", role_, std::move(secrets), std::move(request),
              std::move(done));
  }

  const RemoteContext context_;
  const std::string endpoint_url_;
  const Role role_;
  const ProviderPtr source_;
};

class WebIdentityProvider final : public CredentialsProvider {
 public:
  WebIdentityProvider(RemoteContext context, std::string endpoint_url, Role role,
                      std::string token_file)
      : context_(std::move(context)),
        endpoint_url_(std::move(endpoint_url)),
        role_(std::move(role)),
        token_file_(std::move(token_file)) {}

  void Start(Done done) override {
    Result<std::string> token = context_.environment.ReadToken(token_file_);
    if (!token.ok()) return done(Unusable("the web identity token: " + token.error().message));
    http::QueryParameters fields = CommonFields(context_, "AssumeRoleWithWebIdentity", role_);
    fields.emplace_back("WebIdentityToken", *token);
    SendToSts(context_, "AssumeRoleWithWebIdentity", role_, {*token},
              StsRequest(context_, endpoint_url_, fields), std::move(done));
  }

 private:
  const RemoteContext context_;
  const std::string endpoint_url_;
  const Role role_;
  const std::string token_file_;
};

class WebIdentityEnvironmentProvider final : public CredentialsProvider {
 public:
  explicit WebIdentityEnvironmentProvider(RemoteContext context) : context_(std::move(context)) {}

  void Start(Done done) override {
    const auto file = context_.environment.Get("AWS_WEB_IDENTITY_TOKEN_FILE");
    if (!file) return done(NotConfigured("AWS_WEB_IDENTITY_TOKEN_FILE is not set"));
    const auto arn = context_.environment.Get("AWS_ROLE_ARN");
    if (!arn)
      return done(Unusable(
          "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is not; set both or neither"));
    const Role role{*arn, context_.environment.Get("AWS_ROLE_SESSION_NAME").value_or(""), {}, {}};
    MakeWebIdentityProvider(context_, {}, role, *file)->Start(std::move(done));
  }

 private:
  const RemoteContext context_;
};

}  // namespace

ProviderPtr MakeAssumeRoleProvider(RemoteContext context, std::string endpoint_url, Role role,
                                   ProviderPtr source) {
  return std::make_shared<AssumeRoleProvider>(std::move(context), std::move(endpoint_url),
                                              std::move(role), std::move(source));
}

ProviderPtr MakeWebIdentityProvider(RemoteContext context, std::string endpoint_url, Role role,
                                    std::string token_file) {
  return std::make_shared<WebIdentityProvider>(std::move(context), std::move(endpoint_url),
                                               std::move(role), std::move(token_file));
}

ProviderPtr MakeWebIdentityEnvironmentProvider(RemoteContext context) {
  return std::make_shared<WebIdentityEnvironmentProvider>(std::move(context));
}

}  // namespace penstock::auth
