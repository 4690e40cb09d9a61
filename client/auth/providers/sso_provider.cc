#include "client/auth/providers/sso_provider.h"

#include <charconv>
#include <chrono>
#include <memory>
#include <utility>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/text/redact.h"
#include "client/auth/providers/credential_document.h"
#include "client/auth/providers/provider_response.h"
#include "client/http/uri.h"

namespace penstock::auth {
namespace {

class SsoProvider final : public CredentialsProvider {
 public:
  SsoProvider(RemoteContext context, SsoRole role)
      : context_(std::move(context)), role_(std::move(role)) {}

  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    Result<std::string> token = Token();
    if (!token.ok()) return done(std::move(token).error());
    Result<SmallRequest> request = Prepare(*token);
    if (!request.ok()) return done(std::move(request).error());
    FetchSmall(context_.transport(), *context_.clock, std::move(request).value(),
               [token = std::move(token).value(), done = std::move(done)](
                   Result<SmallResponse> response) { done(Read(token, response)); });
  }

 private:
  Result<SmallRequest> Prepare(const std::string& token) const {
    const std::string url =
        context_.environment.Get("AWS_ENDPOINT_URL_SSO")
            .value_or("https://portal.sso." + role_.region + "." + context_.dns_suffix);
    const std::string query =
        http::BuildQuery({{"role_name", role_.role_name}, {"account_id", role_.account_id}});
    auto request =
        RequestTo("GET", url + "/federation/credentials?" + query, context_.ca_bundle_path);
    if (!request.ok()) return Unusable("the SSO portal: " + request.error().message);
    SmallRequest out;
    out.request = std::move(request).value();
    out.request.headers.push_back({"x-amz-sso_bearer_token", token});
    return out;
  }

  Result<std::string> Token() const {
    const std::string& name = role_.session.empty() ? role_.start_url : role_.session;
    const std::string path = context_.environment.Get("HOME").value_or("") + "/.aws/sso/cache/" +
                             HexEncode(Sha1(AsBytes(name))) + ".json";
    const std::string login = "; log in with `aws sso login`";
    const auto text = context_.environment.read_file(path);
    if (!text.ok())
      return Unusable("there is no SSO token for '" + name + "'" + login + " (" +
                      text.error().message + ")");
    auto members = ReadFlatObject(*text);
    if (!members.ok()) return Unusable("'" + path + "': " + members.error().message + login);
    std::string expiry = (*members)["expiresAt"];
    // The format of older versions of the AWS CLI.
    if (expiry.ends_with("UTC")) expiry.replace(expiry.size() - 3, 3, "Z");
    const auto expires = ParseIso8601(expiry);
    std::string token = (*members)["accessToken"];
    if (token.empty() || token.find_first_of("\r\n") != std::string::npos || !expires) {
      return Unusable("'" + path + "' does not contain a token with its expiry" + login);
    }
    if (context_.clock->Now() >= *expires) {
      return Unusable("the SSO token for '" + name + "' expired at " + FormatIso8601(*expires) +
                      login);
    }
    return token;
  }

  // `token`: the portal may repeat it in its message.
  static Result<CredentialsPtr> Read(const std::string& token,
                                     const Result<SmallResponse>& response) {
    if (!response.ok()) return Unusable("the SSO portal: " + response.error().message);
    if (response->status != 200) {
      auto members = ReadFlatObject(response->body);
      std::string text = members.ok() ? ": " + Redact((*members)["message"]) : std::string();
      internal::RedactValue(text, token);
      return Unusable("the SSO portal returned " + std::to_string(response->status) + text);
    }
    PENSTOCK_ASSIGN(auto members, ReadFlatObject(response->body));
    Credentials found{members["roleCredentials.accessKeyId"],
                      members["roleCredentials.secretAccessKey"],
                      members["roleCredentials.sessionToken"],
                      {}};
    const std::string& text = members["roleCredentials.expiration"];
    std::int64_t milliseconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
    if (found.access_key_id.empty() || found.secret_access_key.empty() || error != std::errc{} ||
        end != text.data() + text.size()) {
      return Unusable("the response of the SSO portal has no key or no expiry");
    }
    found.expires_at = WallTime(std::chrono::milliseconds(milliseconds));
    return Found(std::move(found));
  }

  const RemoteContext context_;
  const SsoRole role_;
};

}  // namespace

ProviderPtr MakeSsoProvider(RemoteContext context, SsoRole role) {
  return std::make_shared<SsoProvider>(std::move(context), std::move(role));
}

}  // namespace penstock::auth
