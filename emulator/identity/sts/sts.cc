#include "emulator/identity/sts/sts.h"

#include <algorithm>
#include <utility>

#include "base/xml/xml.h"
#include "emulator/auth/query_request.h"
#include "emulator/identity/sts/sts_errors.h"
#include "emulator/identity/sts/sts_parameters.h"
#include "emulator/s3/protocol/documents.h"

namespace penstock::emulator::identity {
namespace {

using auth::QueryRequest;
using std::chrono::seconds;

constexpr std::string_view kVersion = "2011-06-15";
constexpr seconds kDefaultRoleDuration{3600};
constexpr seconds kMaxRoleDuration{43200};
constexpr seconds kMaxChainedDuration{3600};
constexpr seconds kDefaultUserDuration{43200};
constexpr seconds kMaxUserDuration{129600};
constexpr seconds kMaxRootDuration{3600};
constexpr TextRule kSessionName{.least = 2, .most = 64, .punctuation = "+=,.@-"};
constexpr TextRule kExternalId{.least = 2, .most = 1224, .punctuation = "+=,.@:/-"};
constexpr TextRule kToken{.least = 4, .most = 20'000};

struct Call {
  const QueryRequest& query;
  const s3::Exchange& exchange;
  XmlWriter& xml;
  WallTime now;
};

std::string SessionArn(std::string_view account_id, const Role& role, std::string_view name) {
  return "arn:aws:sts::" + std::string(account_id) + ":assumed-role/" + role.name + "/" +
         std::string(name);
}

void WriteCredentials(XmlWriter& xml, const SessionRecord& session) {
  xml.Open("Credentials");
  xml.Element("AccessKeyId", session.access_key_id);
  xml.Element("SecretAccessKey", session.secret_access_key);
  xml.Element("SessionToken", session.session_token);
  xml.Element("Expiration", s3::XmlDate(session.expires));
  xml.Close("Credentials");
}

void WriteRoleUser(XmlWriter& xml, const SessionRecord& session, const std::string& session_name) {
  xml.Open("AssumedRoleUser");
  xml.Element("AssumedRoleId", RoleId(session.account_id, session.role) + ":" + session_name);
  xml.Element("Arn", session.arn);
  xml.Close("AssumedRoleUser");
}

// The characters of the session policies as a percentage of their limit.
void WritePackedSize(XmlWriter& xml, const QueryRequest& query) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : query.parameters) {
    if (name == "Policy" || name.starts_with("PolicyArns.")) bytes += value.size();
  }
  if (bytes > 0) xml.Element("PackedPolicySize", std::to_string(1 + bytes * 99 / 2048));
}

class Sts final : public s3::Filter {
 public:
  Sts(StsOptions options, Identities& identities) : options_(options), identities_(identities) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    const auto* const query = exchange.Find<QueryRequest>();
    if (query == nullptr) return s3::FilterStatus::kContinue;
    XmlWriter xml;
    const std::string action(query->Get("Action").value_or(std::string_view()));
    const Result<void> done = Run({*query, exchange, xml, *exchange.Now()}, action);
    if (!done.ok()) {
      RespondWithStsError(exchange, done.error());
      return s3::FilterStatus::kResponded;
    }
    message::Response response;
    response.Add("x-amzn-RequestId", StsRequestId(exchange));
    response.Add("Content-Type", "text/xml");
    response.body = xml.Take();
    exchange.response = std::move(response);
    return s3::FilterStatus::kResponded;
  }

 private:
  using Action = Result<void> (Sts::*)(const Call& call);

  Result<void> Run(const Call& call, const std::string& action) {
    static constexpr std::pair<std::string_view, Action> kActions[] = {
        {"AssumeRole", &Sts::AssumeRole},
        {"AssumeRoleWithWebIdentity", &Sts::AssumeRoleWithWebIdentity},
        {"GetCallerIdentity", &Sts::GetCallerIdentity},
        {"GetSessionToken", &Sts::GetSessionToken}};
    if (action.empty()) return StsError("MissingAction", "The parameter Action is missing");
    const std::string version(call.query.Get("Version").value_or(std::string_view()));
    const auto* const found =
        std::find_if(std::begin(kActions), std::end(kActions),
                     [&action](const auto& each) { return each.first == action; });
    if (found == std::end(kActions) || version != kVersion) {
      return StsError("InvalidAction", "Could not find operation " + action + " for version " +
                                           (version.empty() ? "NO_VERSION_SPECIFIED" : version));
    }
    if (call.exchange.identity.anonymous() && action != "AssumeRoleWithWebIdentity") {
      return StsError("MissingAuthenticationToken", "Request is missing Authentication Token");
    }
    call.xml.Open(action + "Response", kStsNamespace);
    call.xml.Open(action + "Result");
    PENSTOCK_TRY((this->*found->second)(call));
    call.xml.Close(action + "Result");
    call.xml.Open("ResponseMetadata");
    call.xml.Element("RequestId", StsRequestId(call.exchange));
    call.xml.Close("ResponseMetadata");
    call.xml.Close(action + "Response");
    return Ok();
  }

  Result<void> GetCallerIdentity(const Call& call) {
    PENSTOCK_TRY(CheckKnownParameters(call.query, {}));
    const s3::Identity& caller = call.exchange.identity;
    call.xml.Element("Arn", caller.arn);
    call.xml.Element("UserId", caller.user_id.empty() ? caller.account_id : caller.user_id);
    call.xml.Element("Account", caller.account_id);
    return Ok();
  }

  Result<void> GetSessionToken(const Call& call) {
    PENSTOCK_TRY(CheckKnownParameters(call.query, {"DurationSeconds"}));
    const s3::Identity& caller = call.exchange.identity;
    if (identities_.IsSession(caller.access_key_id)) {
      return StsError("AccessDenied", "Cannot call GetSessionToken with session credentials");
    }
    const bool is_root = caller.user_name.empty();
    PENSTOCK_ASSIGN(
        const seconds duration,
        Duration(call.query, is_root ? kMaxRootDuration : kDefaultUserDuration, kMaxUserDuration));
    PENSTOCK_ASSIGN(
        const SessionRecord session,
        Add({.expires = call.now + (is_root ? std::min(duration, kMaxRootDuration) : duration),
             .account_id = caller.account_id,
             .role = {},
             .arn = caller.arn,
             .user_name = caller.user_name,
             .name_space = call.exchange.space->name,
             .policies = {}},
            call.now));
    WriteCredentials(call.xml, session);
    return Ok();
  }

  Result<void> AssumeRole(const Call& call) {
    PENSTOCK_TRY(CheckKnownParameters(call.query, {"RoleArn", "RoleSessionName", "DurationSeconds",
                                                   "ExternalId", "Policy", "PolicyArns."}));
    const s3::Identity& caller = call.exchange.identity;
    PENSTOCK_ASSIGN(const std::string name,
                    RequiredText(call.query, "RoleSessionName", kSessionName));
    PENSTOCK_ASSIGN(const auto external_id, OptionalText(call.query, "ExternalId", kExternalId));
    PENSTOCK_ASSIGN(const RoleName role_name, RoleOf(call.query));
    PENSTOCK_ASSIGN(const seconds duration,
                    Duration(call.query, kDefaultRoleDuration, kMaxRoleDuration));
    if (caller.user_name.empty())
      return StsError("AccessDenied", "Roles may not be assumed by root accounts.");
    const auto access = identities_.AccessOf(role_name.account_id);
    const Role* const role = FindRole(access.get(), role_name);
    StsContext context(call.exchange);
    context.Set("sts:RoleSessionName", name);
    if (external_id) context.Set("sts:ExternalId", *external_id);
    if (role == nullptr ||
        !MayAssume(caller, role_name.account_id, *role, context, options_.policies)) {
      return NotAuthorized(caller, "sts:AssumeRole",
                           call.query.Get("RoleArn").value_or(std::string_view()));
    }
    PENSTOCK_TRY(CheckDuration(*role, duration));
    if (!caller.role_arn.empty() && duration > kMaxChainedDuration) {
      return StsError("ValidationError",
                      "The requested DurationSeconds exceeds the 1 hour session limit for roles "
                      "assumed by role chaining");
    }
    PENSTOCK_ASSIGN(
        const SessionRecord session,
        AddRoleSession(call, *access, *role, name, duration, call.exchange.space->name));
    WriteRoleUser(call.xml, session, name);
    WriteCredentials(call.xml, session);
    WritePackedSize(call.xml, call.query);
    return Ok();
  }

  Result<void> AssumeRoleWithWebIdentity(const Call& call) {
    PENSTOCK_TRY(CheckKnownParameters(call.query, {"RoleArn", "RoleSessionName", "DurationSeconds",
                                                   "WebIdentityToken", "Policy", "PolicyArns."}));
    PENSTOCK_ASSIGN(const std::string name,
                    RequiredText(call.query, "RoleSessionName", kSessionName));
    PENSTOCK_ASSIGN(const std::string token, RequiredText(call.query, "WebIdentityToken", kToken));
    PENSTOCK_ASSIGN(const RoleName role_name, RoleOf(call.query));
    PENSTOCK_ASSIGN(const seconds duration,
                    Duration(call.query, kDefaultRoleDuration, kMaxRoleDuration));
    const auto access = identities_.AccessOf(role_name.account_id);
    const Role* const role = FindRole(access.get(), role_name);
    const Error denied =
        StsError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity");
    if (role == nullptr) return denied;
    // No key selects the namespace, so the role does, with its clock.
    PENSTOCK_ASSIGN(const auto space, identities_.OpenNamespace(role->name_space));
    const WallTime now = space->clock->Now();
    PENSTOCK_ASSIGN(const Trusted trusted, Trust(call, *access, *role, name, token, now));
    if (!trusted.allowed) return denied;
    PENSTOCK_TRY(CheckDuration(*role, duration));
    PENSTOCK_ASSIGN(const SessionRecord session,
                    AddRoleSession({call.query, call.exchange, call.xml, now}, *access, *role, name,
                                   duration, role->name_space));
    call.xml.Element("SubjectFromWebIdentityToken", Xml10Text(trusted.token.subject));
    call.xml.Element("Audience", trusted.token.audiences.empty()
                                     ? std::string()
                                     : Xml10Text(trusted.token.audiences.front()));
    WriteRoleUser(call.xml, session, name);
    WriteCredentials(call.xml, session);
    call.xml.Element("Provider", trusted.provider_arn);
    WritePackedSize(call.xml, call.query);
    return Ok();
  }

  struct Trusted {
    WebToken token;
    std::string provider_arn;
    bool allowed = false;
  };

  // Verifies the token with the provider of its issuer. A text that is not a JSON Web Token is
  // accepted by the first provider for tests that the role trusts.
  static Result<Trusted> Trust(const Call& call, const AccountAccess& access, const Role& role,
                               const std::string& session_name, const std::string& token,
                               WallTime now) {
    const auto issuer = IssuerOf(token);
    std::optional<Error> refused;
    Trusted trusted;
    for (const auto& [name, provider] : access.token_providers) {
      if (issuer ? *issuer != provider.issuer : !provider.accepts_any_token) continue;
      auto verified = VerifyToken(provider, token, now);
      if (!verified.ok()) {
        refused = std::move(verified).error();
        continue;
      }
      trusted.token = std::move(verified).value();
      trusted.provider_arn = "arn:aws:iam::" + access.account_id + ":oidc-provider/" + name;
      StsContext context(call.exchange);
      context.Set("sts:RoleSessionName", session_name);
      context.Set("aws:FederatedProvider", trusted.provider_arn);
      for (const auto& [claim, values] : trusted.token.claims)
        context.SetAll(name + ":" + claim, values);
      trusted.allowed = MayAssumeWithToken(role, trusted.provider_arn, context);
      if (trusted.allowed) break;
    }
    if (!trusted.provider_arn.empty()) return trusted;
    if (refused) return *std::move(refused);
    if (issuer)
      return StsError("InvalidIdentityToken",
                      "No OpenIDConnect provider found in your account for " + *issuer);
    return StsError("InvalidIdentityToken",
                    "The ID Token provided is not a valid JWT. (You may "
                    "see this error if you sent an Access Token)");
  }

  static const Role* FindRole(const AccountAccess* access, const RoleName& name) {
    if (access == nullptr) return nullptr;
    const auto found = access->roles.find(name.name);
    return found != access->roles.end() && found->second.path == name.path ? &found->second
                                                                           : nullptr;
  }

  static Result<void> CheckDuration(const Role& role, seconds duration) {
    if (duration <= role.max_session_duration) return Ok();
    return StsError("ValidationError",
                    "The requested DurationSeconds exceeds the MaxSessionDuration set for this "
                    "role.");
  }

  Result<SessionRecord> AddRoleSession(const Call& call, const AccountAccess& access,
                                       const Role& role, const std::string& name, seconds duration,
                                       const std::string& name_space) {
    PENSTOCK_ASSIGN(std::vector<std::string> policies, SessionPolicies(call.query, access));
    return Add({.expires = call.now + duration,
                .account_id = access.account_id,
                .role = role.name,
                .arn = SessionArn(access.account_id, role, name),
                .user_name = role.name + "/" + name,
                .name_space = name_space,
                .policies = std::move(policies)},
               call.now);
  }

  Result<SessionRecord> Add(SessionRecord session, WallTime now) {
    auto added = identities_.AddSession(std::move(session), now);
    if (!added.ok() && added.error().kind == ErrorKind::kThrottled)
      return StsError("Throttling", "Rate exceeded: " + added.error().message);
    return added;
  }

  const StsOptions options_;
  Identities& identities_;
};

}  // namespace

std::unique_ptr<s3::Filter> MakeSts(StsOptions options, Identities& identities) {
  return std::make_unique<Sts>(options, identities);
}

Result<SessionRecord> StartRoleSession(Identities& identities, std::string_view account_id,
                                       const Role& role, std::string session_name, WallTime now,
                                       std::chrono::seconds duration) {
  return identities.AddSession({.expires = now + duration,
                                .account_id = std::string(account_id),
                                .role = role.name,
                                .arn = SessionArn(account_id, role, session_name),
                                .user_name = role.name + "/" + session_name,
                                .name_space = role.name_space,
                                .policies = {}},
                               now);
}

}  // namespace penstock::emulator::identity
