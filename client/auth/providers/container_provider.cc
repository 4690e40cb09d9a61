#include "client/auth/providers/container_provider.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text/redact.h"
#include "client/auth/providers/credential_document.h"
#include "client/auth/providers/provider_response.h"
#include "client/http/uri.h"

namespace penstock::auth {
namespace {

constexpr const char* kRelativeUri = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
constexpr const char* kFullUri = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
constexpr const char* kToken = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
constexpr const char* kTokenFile = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
constexpr const char* kEcsBase = "http://169.254.170.2";

// Only loopback and AWS link-local addresses are trusted without TLS.
bool IsTrusted(const http::Endpoint& endpoint) {
  static constexpr std::array kHosts = {"localhost", "::1", "169.254.170.2", "169.254.170.23",
                                        "fd00:ec2::23"};
  return endpoint.scheme == "https" || endpoint.host.starts_with("127.") ||
         std::find(kHosts.begin(), kHosts.end(), endpoint.host) != kHosts.end();
}

class ContainerProvider final : public CredentialsProvider {
 public:
  explicit ContainerProvider(RemoteContext context) : context_(std::move(context)) {}

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    Result<std::optional<std::string>> token = Token();
    if (!token.ok()) return done(std::move(token).error());
    Result<SmallRequest> request = Prepare(*token);
    if (!request.ok()) return done(std::move(request).error());
    const std::string url = request->request.endpoint.host + request->request.target;
    FetchSmall(context_.transport(), *context_.clock, std::move(request).value(),
               [url, token = token->value_or(""), done = std::move(done)](
                   Result<SmallResponse> response) { done(Read(url, token, response)); });
  }

 private:
  Result<SmallRequest> Prepare(const std::optional<std::string>& token) const {
    const auto relative = context_.environment.Get(kRelativeUri);
    const auto full = context_.environment.Get(kFullUri);
    if (!relative && !full)
      return NotConfigured(std::string(kRelativeUri) + " and " + kFullUri + " are not set");
    SmallRequest out;
    auto request =
        RequestTo("GET", relative ? kEcsBase + *relative : *full, context_.ca_bundle_path);
    if (!request.ok())
      return Unusable(std::string(relative ? kRelativeUri : kFullUri) + ": " +
                      request.error().message);
    if (!IsTrusted(request->endpoint)) {
      return Unusable(
          std::string(kFullUri) + " names the host '" + request->endpoint.host +
          "' over http; use https, a loopback address, or the container services' own addresses");
    }
    out.request = std::move(request).value();
    out.request.headers.push_back({"Accept", "application/json"});
    if (token) out.request.headers.push_back({"Authorization", *token});
    out.attempt_timeout = std::chrono::seconds(2);
    return out;
  }

  Result<std::optional<std::string>> Token() const {
    std::optional<std::string> token = context_.environment.Get(kToken);
    const char* origin = kToken;
    if (const auto path = context_.environment.Get(kTokenFile)) {
      origin = kTokenFile;
      auto text = context_.environment.ReadToken(*path);
      if (!text.ok()) return Unusable(std::string(kTokenFile) + ": " + text.error().message);
      token = std::move(text).value();
    }
    if (token && token->find_first_of("\r\n") != std::string::npos) {
      return Unusable(std::string(origin) + " contains a line break; it must be one line");
    }
    return token;
  }

  // `token`: the service may repeat it, with or without its scheme, in its message.
  static Result<CredentialsPtr> Read(const std::string& url, const std::string& token,
                                     const Result<SmallResponse>& response) {
    const std::string source = "the container credentials service " + url;
    if (!response.ok()) return Unusable(source + ": " + response.error().message);
    if (response->status != 200) {
      const auto members = ReadFlatObject(response->body);
      const auto reason = members.ok() ? members->find("message")
                                       : std::map<std::string, std::string>::const_iterator();
      std::string text;
      if (members.ok() && reason != members->end()) text = ": " + Redact(reason->second);
      internal::RedactValue(text, token);
      internal::RedactValue(text, token.substr(token.rfind(' ') + 1));
      return Unusable(source + " returned " + std::to_string(response->status) + text);
    }
    PENSTOCK_ASSIGN(Credentials found, ReadCredentialDocument(response->body, "Token", source));
    return Found(std::move(found));
  }

  const RemoteContext context_;
};

}  // namespace

ProviderPtr MakeContainerProvider(RemoteContext context) {
  return std::make_shared<ContainerProvider>(std::move(context));
}

}  // namespace penstock::auth
