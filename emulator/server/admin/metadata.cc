#include "emulator/server/admin/metadata.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/server/admin/admin_json.h"

namespace penstock::emulator::server {
namespace {

constexpr std::string_view kToken = "x-aws-ec2-metadata-token";
constexpr std::string_view kTokenSeconds = "x-aws-ec2-metadata-token-ttl-seconds";
constexpr std::uint64_t kLongestToken = 21'600;  // seconds
constexpr std::size_t kExpiryBytes = 8;
constexpr std::string_view kCredentialsPath = "meta-data/iam/security-credentials";

void Respond(message::Exchange& exchange, int status, std::string body,
             std::string_view content_type = "text/plain") {
  exchange.response = message::Response();
  exchange.response.status = status;
  exchange.response.Add("Content-Type", std::string(content_type));
  exchange.response.Add("Cache-Control", "no-store");
  // As every response of the admin port: nothing of this origin may run as a script.
  exchange.response.Add("X-Content-Type-Options", "nosniff");
  if (exchange.request.method == "HEAD") {
    exchange.response.content_length = body.size();
  } else {
    exchange.response.body = std::move(body);
  }
}

void RespondWithJson(message::Exchange& exchange, int status, std::string body) {
  Respond(exchange, status, std::move(body), "application/json");
}

void RefuseContainer(message::Exchange& exchange, int status, std::string_view code,
                     const std::string& message) {
  RespondWithJson(exchange, status, JsonText({{"code", code}, {"message", message}}));
}

std::uint64_t SecondsOf(WallTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

// Of credentials: the namespace of their role may have been deleted, or cannot be opened now.
int StatusOf(const Error& error) {
  if (error.kind == ErrorKind::kNotFound) return 404;
  if (error.kind == ErrorKind::kUnavailable) return 503;
  return error.kind == ErrorKind::kThrottled ? 429 : 500;
}

}  // namespace

Metadata::Metadata(identity::Identities& identities, std::string region)
    : credentials_(identities), region_(std::move(region)) {
  RandomBytes(secret_);
}

void Metadata::Handle(message::Exchange& exchange, bool has_admin_token) {
  std::string_view path = exchange.request.target;
  path = path.substr(0, path.find('?'));
  if (path.starts_with(kContainerRoot)) {
    path.remove_prefix(kContainerRoot.size());
    return HandleContainer(exchange, path, has_admin_token);
  }
  path.remove_prefix(kMetadataRoot.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  HandleInstance(exchange, path);
}

// The clock of the role's namespace, or of the default namespace.
WallTime Metadata::Now() const {
  const auto role = credentials_.identities().InstanceRole();
  const auto space = credentials_.identities().OpenNamespace(
      role ? std::string_view(role->second.name_space) : identity::kDefaultNamespace);
  return space.ok() ? (*space)->clock->Now() : SystemClock().Now();
}

// 56 characters, as on EC2: aws-c-auth refuses longer ones. The expiry in 8 bytes, and its MAC.
std::string Metadata::TokenOf(std::uint64_t expires) const {
  std::string raw;
  for (int shift = 56; shift >= 0; shift -= 8) raw += static_cast<char>(expires >> shift & 0xff);
  raw += AsText(HmacSha256(secret_, AsBytes(raw)));
  return Base64Encode(AsBytes(raw));
}

bool Metadata::IsToken(std::string_view token) const {
  const auto raw = Base64Decode(token);
  if (!raw || raw->size() < kExpiryBytes) return false;
  std::uint64_t expires = 0;
  for (std::size_t i = 0; i < kExpiryBytes; ++i)
    expires = expires << 8 | static_cast<unsigned char>((*raw)[i]);
  return SecondsOf(Now()) < expires && ConstantTimeEqual(AsBytes(TokenOf(expires)), AsBytes(token));
}

void Metadata::IssueToken(message::Exchange& exchange) const {
  // The service refuses requests that a proxy has forwarded.
  if (exchange.request.Find("x-forwarded-for"))
    return Respond(exchange, 403, "forwarded requests get no token\n");
  const auto header = exchange.request.Find(kTokenSeconds);
  const auto seconds = header ? s3::ParseDecimal(*header, kLongestToken) : std::nullopt;
  if (!seconds || *seconds == 0) {
    return Respond(exchange, 400,
                   std::string(kTokenSeconds) + " must be a number of seconds from 1 to 21600\n");
  }
  Respond(exchange, 200, TokenOf(SecondsOf(Now()) + *seconds));
  exchange.response.Add("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", std::to_string(*seconds));
}

void Metadata::HandleInstance(message::Exchange& exchange, std::string_view path) {
  const std::string_view method = exchange.request.method;
  if (path == "api/token") {
    if (method == "PUT") return IssueToken(exchange);
    Respond(exchange, 405, "use PUT\n");
    return exchange.response.Add("Allow", "PUT");
  }
  if (method != "GET" && method != "HEAD") {
    Respond(exchange, 405, "use GET\n");
    return exchange.response.Add("Allow", "GET, HEAD");
  }
  if (!IsToken(exchange.request.Find(kToken).value_or(std::string_view()))) {
    return Respond(
        exchange, 401,
        "the header X-aws-ec2-metadata-token is missing, invalid or expired; get a token "
        "with PUT /latest/api/token\n");
  }
  if (path.starts_with(kCredentialsPath)) {
    path.remove_prefix(kCredentialsPath.size());
    return SendInstanceCredentials(exchange, path.substr(path.empty() ? 0 : 1));
  }
  if (path == "meta-data/instance-id") return Respond(exchange, 200, std::string(kInstanceId));
  if (path == "meta-data/placement/region") return Respond(exchange, 200, region_);
  if (path == "meta-data/placement/availability-zone") return Respond(exchange, 200, region_ + "a");
  if (path == "dynamic/instance-identity/document")
    return RespondWithJson(exchange, 200, IdentityDocument());
  Respond(exchange, 404, "the emulator has no such metadata\n");
}

void Metadata::SendInstanceCredentials(message::Exchange& exchange, std::string_view name) {
  const auto found = credentials_.identities().InstanceRole();
  if (!found || (!name.empty() && name != found->second.name)) {
    return Respond(exchange, 404,
                   "no role has \"instance_profile\": true in the users document, or the name is "
                   "another one\n");
  }
  if (name.empty()) return Respond(exchange, 200, found->second.name);
  const auto current = credentials_.Get(found->first, found->second, std::string(kInstanceId));
  if (!current.ok())
    return Respond(exchange, StatusOf(current.error()), current.error().message + "\n");
  const identity::SessionRecord& session = current->session;
  RespondWithJson(exchange, 200,
                  JsonText({{"Code", "Success"},
                            {"LastUpdated", s3::XmlDate(current->issued)},
                            {"Type", "AWS-HMAC"},
                            {"AccessKeyId", session.access_key_id},
                            {"SecretAccessKey", session.secret_access_key},
                            {"Token", session.session_token},
                            {"Expiration", s3::XmlDate(session.expires)}}));
}

std::string Metadata::IdentityDocument() const {
  const auto role = credentials_.identities().InstanceRole();
  return JsonText({{"accountId", role ? role->first : std::string("000000000000")},
                   {"architecture", "x86_64"},
                   {"availabilityZone", region_ + "a"},
                   {"instanceId", kInstanceId},
                   {"instanceType", "p5.48xlarge"},
                   {"pendingTime", s3::XmlDate(Now())},
                   {"privateIp", "127.0.0.1"},
                   {"region", region_},
                   {"version", "2017-09-30"}});
}

void Metadata::HandleContainer(message::Exchange& exchange, std::string_view name,
                               bool has_admin_token) {
  if (exchange.request.method != "GET" && exchange.request.method != "HEAD") {
    RefuseContainer(exchange, 405, "MethodNotAllowed", "use GET");
    return exchange.response.Add("Allow", "GET, HEAD");
  }
  const std::size_t slash = std::min(name.find('/'), name.size());
  const std::string_view account = name.substr(0, slash);
  const auto access = credentials_.identities().AccessOf(account);
  const auto role_name = s3::PercentDecode(name.substr(std::min(name.size(), slash + 1)), {});
  const identity::Role* role = nullptr;
  if (access && role_name) {
    const auto found = access->roles.find(*role_name);
    if (found != access->roles.end() && found->second.container) role = &found->second;
  }
  const std::string_view given =
      exchange.request.Find("authorization").value_or(std::string_view());
  const bool is_authorized = role != nullptr && !role->container_token.empty()
                                 ? ConstantTimeEqual(AsBytes(given), AsBytes(role->container_token))
                                 : has_admin_token;
  if (!is_authorized) {
    return RefuseContainer(exchange, 401, "AccessDenied",
                           "the Authorization header is not the container_token of the role");
  }
  if (role == nullptr) {
    return RefuseContainer(exchange, 404, "NotFound",
                           "no such role has \"container\": true in the users document");
  }
  const auto current = credentials_.Get(account, *role, "container");
  if (!current.ok())
    return RefuseContainer(
        exchange, StatusOf(current.error()),
        current.error().kind == ErrorKind::kNotFound ? "NotFound" : "InternalServerError",
        current.error().message);
  const identity::SessionRecord& session = current->session;
  RespondWithJson(exchange, 200,
                  JsonText({{"RoleArn", identity::RoleArn(account, *role)},
                            {"AccountId", account},
                            {"AccessKeyId", session.access_key_id},
                            {"SecretAccessKey", session.secret_access_key},
                            {"Token", session.session_token},
                            {"Expiration", s3::XmlDate(session.expires)}}));
}

}  // namespace penstock::emulator::server
