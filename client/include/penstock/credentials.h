// Credentials and credentials providers. Credentials are values; a provider finds and refreshes
// them.
//
//   config.credentials = MakeAssumeRoleCredentials({.role_arn = "arn:aws:iam::1:role/reader"});
//
// Without ClientConfig::credentials a Client uses MakeDefaultCredentials().
#ifndef PENSTOCK_CREDENTIALS_H_
#define PENSTOCK_CREDENTIALS_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/export.h"
#include "penstock/base/pending.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// One identity. Never print or log `secret_access_key` and `session_token`.
struct Credentials {
  std::string access_key_id = {};
  std::string secret_access_key = {};
  std::string session_token = {};           // Empty for long-term access keys.
  std::optional<WallTime> expires_at = {};  // Unset: never.
};

using CredentialsPtr = std::shared_ptr<const Credentials>;

// A source of credentials. A Client caches the result of its provider, and all waiting calls share
// one Start. The Client calls Start again 5 minutes before the credentials expire, and after S3
// rejected them as expired (ExpiredToken). An exception of Start fails the waiting calls.
//
// Thread safety: may be called from any thread. `Start` never blocks. `done` runs exactly once,
// possibly before Start returns.
class CredentialsProvider {
 public:
  virtual ~CredentialsProvider() = default;

  // Passes valid credentials to `done`, or kUnauthenticated with a message that lists the sources
  // tried. A null pointer means: do not sign (anonymous).
  virtual void Start(std::function<void(Result<CredentialsPtr>)> done) = 0;

  // S3 rejected `refused` as expired, although the clock does not say so. A provider that keeps
  // credentials drops them if they are these, so that the next Start finds others. A provider that
  // has inner providers passes the call on. Must not block.
  virtual void Forget(const CredentialsPtr& /*refused*/) {}
};

// Shared: one provider serves many clients.
using CredentialsProviderPtr = std::shared_ptr<CredentialsProvider>;

// Starts the provider. For programs that need the credentials themselves.
inline Pending<CredentialsPtr> FetchCredentials(CredentialsProvider& provider) {
  auto call = MakePending<CredentialsPtr>();
  provider.Start(std::move(call.done));
  return std::move(call.pending);
}

// ---- Providers ----
//
// They follow the "AWS SDKs and Tools Reference Guide". Making one sends nothing and reads no file.
// Those that run a program or send requests cache the credentials: concurrent callers share one
// request, and credentials with an expiry are renewed 5 minutes before it. Requests use the
// connections and I/O threads of the process. All may be used by any number of Clients, from any
// thread, and in a forked child, which fetches its own credentials.

// Always these. kUnauthenticated if the access key id or the secret is empty.
CredentialsProviderPtr MakeStaticCredentials(Credentials credentials);

// None: requests are not signed.
CredentialsProviderPtr MakeAnonymousCredentials();

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_CREDENTIAL_EXPIRATION, read
// at each Start.
CredentialsProviderPtr MakeEnvironmentCredentials();

// Where providers send requests to. Empty members have the defaults of their comments.
struct CredentialsOptions {
  std::string region = {};        // Of STS and SSO. Default: AWS_REGION, AWS_DEFAULT_REGION.
  std::string endpoint_url = {};  // Of STS. Default: AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL, AWS's.
  std::string ca_bundle_path = {};  // Default: AWS_CA_BUNDLE, the system's.
};

// A profile of ~/.aws/config and ~/.aws/credentials: keys, a role, SSO, web identity or
// credential_process. An empty name means AWS_PROFILE, else "default".
CredentialsProviderPtr MakeProfileCredentials(std::string profile = {},
                                              CredentialsOptions options = {});

// The default chain: environment, profile files, web identity from the environment, container, EC2
// instance. The environment is skipped if a profile is named. A configured place that fails ends
// the search.
CredentialsProviderPtr MakeDefaultCredentials(std::string profile = {},
                                              CredentialsOptions options = {});

struct AssumeRoleOptions {
  std::string role_arn = {};
  std::string session_name = {};  // Empty: "penstock-" and the time.
  std::string external_id = {};   // Empty: none.
  std::optional<std::chrono::seconds> duration = {};
  // Signs the request to STS. Null: the default chain.
  CredentialsProviderPtr source = {};
  CredentialsOptions options = {};
};
// A role, by AssumeRole of the AWS Security Token Service.
CredentialsProviderPtr MakeAssumeRoleCredentials(AssumeRoleOptions options);

struct WebIdentityOptions {
  std::string role_arn = {};      // Empty: AWS_ROLE_ARN.
  std::string session_name = {};  // Empty: AWS_ROLE_SESSION_NAME, else "penstock-" and the time.
  std::string token_file = {};    // Read each time. Empty: AWS_WEB_IDENTITY_TOKEN_FILE.
  std::optional<std::chrono::seconds> duration = {};
  CredentialsOptions options = {};
};
// A role, by AssumeRoleWithWebIdentity and the token in a file, for example of EKS.
CredentialsProviderPtr MakeWebIdentityCredentials(WebIdentityOptions options = {});

// The output of a program, as with credential_process: {"Version": 1, "AccessKeyId": ...}. The
// command line is split by a shell's rules for quotes, and no shell runs. The program is killed
// after `timeout`.
CredentialsProviderPtr MakeProcessCredentials(
    std::string command, std::chrono::milliseconds timeout = std::chrono::seconds(120));

// An ECS task or an EKS pod: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or
// AWS_CONTAINER_CREDENTIALS_FULL_URI, with AWS_CONTAINER_AUTHORIZATION_TOKEN(_FILE).
CredentialsProviderPtr MakeContainerCredentials(CredentialsOptions options = {});

// The role of the EC2 instance, from the instance metadata service (version 2, then 1). Settings:
// AWS_EC2_METADATA_DISABLED, AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_METADATA_SERVICE_TIMEOUT.
CredentialsProviderPtr MakeInstanceCredentials(CredentialsOptions options = {});

// Caches the credentials of any provider, and shares one Start among concurrent callers. A Client
// does this by itself; use it for a provider that several Clients share. Null: the default chain.
CredentialsProviderPtr MakeCachedCredentials(CredentialsProviderPtr inner);

struct CredentialsChainLink {
  std::string name = {};                 // For the message if no link has credentials: "our vault".
  CredentialsProviderPtr provider = {};  // Null: the default chain.
};
// Tries each link in order. kNotFound of a link means that nothing is configured there, so the next
// is tried; any other error ends the search. If none has credentials, the error is
// kUnauthenticated and lists the links.
CredentialsProviderPtr MakeChainCredentials(std::vector<CredentialsChainLink> links);

}  // namespace penstock

#endif  // PENSTOCK_CREDENTIALS_H_
