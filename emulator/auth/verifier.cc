#include "emulator/auth/verifier.h"

#include <memory>
#include <utility>

#include "emulator/auth/query_request.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/refusal.h"
#include "emulator/auth/signature/session_token.h"
#include "emulator/auth/signature/version_two.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::string_view kContentHash = "x-amz-content-sha256";

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

bool StartsWithAmz(std::string_view name) {
  return name.size() > 6 && (name[0] | 32) == 'x' && name[1] == '-' && (name[2] | 32) == 'a' &&
         (name[3] | 32) == 'm' && (name[4] | 32) == 'z' && name[5] == '-';
}

Error InvalidAccessKeyId(std::string_view access_key_id) {
  return s3::MakeError("InvalidAccessKeyId", {{"AWSAccessKeyId", std::string(access_key_id)}});
}

Error InvalidToken(std::string_view token) {
  return s3::MakeError("InvalidToken", {{"Token-0", std::string(token)}});
}

Error ExpiredToken(std::string_view token) {
  return s3::MakeError("ExpiredToken", {{"Token-0", std::string(token)}});
}

// Directory buckets use another service in the credential scope, except on S3's own general purpose
// endpoints, where they are unknown.
std::string_view ServiceOf(const s3::Exchange& exchange) {
  if (exchange.Find<QueryRequest>() != nullptr) return kStsService;
  const s3::Target& target = exchange.target;
  if (target.directory_endpoint != s3::DirectoryEndpoint::kNone) return "s3express";
  if (target.on_s3_domain) return "s3";
  // Access points of directory buckets use that service too; the router rejects their names.
  const bool access_point = target.bucket.value.ends_with("--xa-s3");
  const bool directory = s3::IsDirectoryBucketName(target.bucket.value) || access_point ||
                         exchange.operation == "ListDirectoryBuckets" ||
                         (target.bucket.empty() && exchange.operation == "CreateSession");
  return directory ? "s3express" : "s3";
}

Result<void> CheckToken(std::optional<std::string_view> token, std::string_view access_key_id,
                        const User& user) {
  if (!token) {
    if (user.session_token.empty()) return Ok();
    // A temporary key is only valid together with its token.
    return InvalidAccessKeyId(access_key_id);
  }
  if (!user.session_token.empty() &&
      ConstantTimeEqual(AsBytes(*token), AsBytes(user.session_token)))
    return Ok();
  return InvalidToken(*token);
}

// Signature parameters have their own names and exact case (X-Amz-Date). A parameter that is
// spelled like a header counts as that header.
std::optional<std::string_view> FromQuery(const s3::Target& target, std::string_view name,
                                          std::string_view as_header) {
  const auto parameter = target.Get(name);
  return parameter ? parameter : target.Get(as_header);
}

std::optional<std::string_view> TokenOf(const s3::Exchange& exchange, const Claim& claim) {
  return claim.mechanism == Mechanism::kQuery
             ? FromQuery(exchange.target, "X-Amz-Security-Token", "x-amz-security-token")
             : exchange.request.Find("x-amz-security-token");
}

// The session token of a directory bucket; nullopt if the requester's own credentials are used,
// which are valid there too.
std::optional<std::string_view> SessionTokenOf(const s3::Exchange& exchange, const Claim& claim) {
  if (claim.service != "s3express") return std::nullopt;
  return claim.mechanism == Mechanism::kQuery
             ? FromQuery(exchange.target, "X-Amz-S3session-Token", s3::kSessionTokenHeader)
             : exchange.request.Find(s3::kSessionTokenHeader);
}

// For sessions: the requester showed the token of its own credentials when it created the session.
std::optional<std::string_view> UserToken(const User* user) {
  if (user == nullptr || user->session_token.empty()) return std::nullopt;
  return user->session_token;
}

Result<std::string_view> PayloadClaim(const s3::Exchange& exchange, Mechanism mechanism) {
  // Services other than S3 sign the hash of the body, with or without the header.
  if (const auto* const query = exchange.Find<QueryRequest>())
    return std::string_view(query->payload_hash);
  if (mechanism == Mechanism::kQuery) {
    if (const auto claim = FromQuery(exchange.target, "X-Amz-Content-Sha256", kContentHash))
      return *claim;
  }
  if (const auto claim = exchange.request.Find(kContentHash)) return *claim;
  if (mechanism == Mechanism::kHeader) {
    return InvalidRequest("Missing required header for this request: x-amz-content-sha256");
  }
  return std::string_view("UNSIGNED-PAYLOAD");
}

Result<void> CheckCoverage(const s3::RequestHead& head, const Claim& claim) {
  std::string missing;
  const auto add = [&missing](std::string_view name) {
    if (!missing.empty()) missing += ", ";
    missing += name;
  };
  if (!claim.Signs("host")) add("host");
  for (const s3::HeaderView& header : head.headers) {
    if (!StartsWithAmz(header.name)) continue;
    const std::string name = Lower(header.name);
    if (name != kContentHash && !claim.Signs(name)) add(name);
  }
  if (missing.empty()) return Ok();
  Error error = AccessDenied("There were headers present in the request which were not signed");
  error.details.emplace_back("HeadersNotSigned", missing);
  return error;
}

SignatureVersion VersionOf(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kAnonymous: return SignatureVersion::kNone;
    case Mechanism::kHeader: return SignatureVersion::kV4;
    case Mechanism::kQuery: return SignatureVersion::kV4Query;
    case Mechanism::kVersionTwoHeader: return SignatureVersion::kV2;
    case Mechanism::kVersionTwoQuery: return SignatureVersion::kV2Query;
  }
  return SignatureVersion::kNone;
}

bool IsSignedStreaming(PayloadKind kind) {
  return kind == PayloadKind::kStreamingSigned || kind == PayloadKind::kStreamingSignedTrailer;
}

// Saturates at the end of the clock's range.
WallTime ExpiryOf(const Claim& claim) {
  return WallTime::max() - claim.time < claim.expires ? WallTime::max()
                                                      : claim.time + claim.expires;
}

Error Expired(const Claim& claim, WallTime now) {
  Error error = AccessDenied("Request has expired");
  error.details.emplace_back("X-Amz-Expires", std::to_string(claim.expires.count()));
  error.details.emplace_back("Expires", FormatSeconds(ExpiryOf(claim)));
  error.details.emplace_back("ServerTime", FormatSeconds(now));
  return error;
}

// X-Amz-Date in milliseconds since 1970, as recorded against Amazon S3.
Error NotYetValid(const Claim& claim, WallTime now) {
  Error error = AccessDenied("Request is not valid yet");
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(claim.time.time_since_epoch());
  error.details.emplace_back("X-Amz-Date", std::to_string(since_epoch.count()));
  error.details.emplace_back("Expires", FormatSeconds(ExpiryOf(claim)));
  error.details.emplace_back("ServerTime", FormatSeconds(now));
  return error;
}

WallTime TimeOf(const s3::Exchange& exchange) { return *exchange.Now(); }

// Returns the session's credentials if they include the claimed access key.
Result<s3::SessionCredentials> OpenSession(const Claim& claim, std::string_view token,
                                           std::string_view secret) {
  auto credentials = SessionOfToken(secret, token);
  if (!credentials || credentials->access_key_id != claim.access_key_id) return InvalidToken(token);
  return std::move(*credentials);
}

Result<void> CheckSession(const s3::Exchange& exchange, const SessionClaim& session,
                          std::string_view token) {
  if (TimeOf(exchange) >= session.session.expires) return ExpiredToken(token);
  if (!session.session.bucket.empty() && session.session.bucket != exchange.target.bucket.value)
    return AccessDenied("Access Denied");
  return Ok();
}

// Returns the query with each '+' encoded as a space.
std::string WithSpaces(std::string_view raw_query) {
  std::string spaced;
  for (const char c : raw_query) spaced += c == '+' ? std::string("%20") : std::string(1, c);
  return spaced;
}

Result<void> SetNamespace(s3::Exchange& exchange, const Directory& directory, const User& user) {
  std::shared_ptr<s3::Namespace> space = directory.NamespaceOf(&user);
  if (!space) return s3::MakeError("ServiceUnavailable");
  exchange.space = std::move(space);
  return Ok();
}

}  // namespace

std::string_view SecretOf(const User* user) {
  return user != nullptr ? std::string_view(user->secret_access_key) : std::string_view();
}

Verifier::Verifier(const AuthOptions& options, const Directory& directory)
    : options_(options), directory_(directory) {}

Result<Admission> Verifier::Verify(s3::Exchange& exchange) {
  if (!exchange.space) exchange.space = directory_.NamespaceOf(nullptr);
  // A browser sends a preflight unsigned, or with a presigned URL whose signature is for another
  // method.
  if (exchange.request.method == "OPTIONS") return AdmitUnsigned(exchange);
  PENSTOCK_ASSIGN(const Mechanism mechanism, FindMechanism(exchange.request, exchange.target));
  exchange.signature.version = VersionOf(mechanism);
  // A form has its signature in its fields, which VerifyForm checks.
  if (mechanism == Mechanism::kAnonymous &&
      (exchange.operation == "PostObject" || exchange.Find<QueryRequest>() != nullptr))
    return AdmitUnsigned(exchange);
  if (mechanism == Mechanism::kAnonymous) return AdmitAnonymous(exchange);
  if (mechanism == Mechanism::kVersionTwoQuery || mechanism == Mechanism::kVersionTwoHeader) {
    return AdmitVersionTwo(exchange, mechanism);
  }

  return AdmitVersionFour(exchange, mechanism);
}

Result<Admission> Verifier::AdmitVersionFour(s3::Exchange& exchange, Mechanism mechanism) {
  PENSTOCK_ASSIGN(const Claim claim, mechanism == Mechanism::kQuery
                                         ? ParseQueryClaim(exchange.target)
                                         : ParseHeaderClaim(exchange.request));
  const auto session_token = SessionTokenOf(exchange, claim);
  std::optional<SessionClaim> session;
  if (session_token) {
    // Recorded against Amazon S3: with any token.
    if (exchange.operation == "CreateSession") return s3::SessionHeaderRefused();
    session = ReadSessionToken(*session_token);
    if (!session) return InvalidToken(*session_token);
  }
  const std::string_view access_key_id =
      session ? std::string_view(session->parent) : claim.access_key_id;
  // The user is looked up early for the namespace's clock. An unknown user is rejected below, in
  // S3's order.
  Admission admission;
  admission.user = FindUserOnce(directory_, exchange, access_key_id);
  const User* const user = admission.user.get();
  if (user) PENSTOCK_TRY(SetNamespace(exchange, directory_, *user));

  // STS accepts the signature of every region: each has its endpoint.
  const std::string_view service = ServiceOf(exchange);
  const std::string region =
      service == kStsService
          ? std::string(claim.region)
          : std::string(s3::ExpectedSigningRegion(exchange, claim.region, options_.region));
  PENSTOCK_TRY(CheckScope(claim, region, service));
  PENSTOCK_TRY(CheckTime(claim, TimeOf(exchange)));
  admission.mechanism = mechanism;
  std::string_view secret = SecretOf(user);
  std::string session_secret;
  if (session) {
    PENSTOCK_ASSIGN(admission.identity, Identify(exchange, access_key_id, user, UserToken(user)));
    PENSTOCK_ASSIGN(s3::SessionCredentials credentials, OpenSession(claim, *session_token, secret));
    PENSTOCK_TRY(CheckSession(exchange, *session, *session_token));
    session_secret = std::move(credentials.secret_access_key);
    secret = session_secret;
    admission.identity.session =
        std::make_shared<const s3::DirectorySession>(std::move(session->session));
  } else {
    PENSTOCK_ASSIGN(admission.identity,
                    Identify(exchange, access_key_id, user, TokenOf(exchange, claim)));
  }
  PENSTOCK_ASSIGN(admission.payload_claim, PayloadClaim(exchange, mechanism));
  PENSTOCK_ASSIGN(admission.payload_kind, Classify(admission.payload_claim));
  exchange.signing_region = claim.region;
  if (options_.mode != Mode::kVerify) return admission;

  PENSTOCK_TRY(CheckCoverage(exchange.request, claim));
  const HmacSha256Key key = keys_.Get(
      {.secret = secret, .day = claim.day, .region = claim.region, .service = claim.service});
  PENSTOCK_TRY(CheckSignature(exchange, claim, admission.payload_claim, key));

  if (IsSignedStreaming(admission.payload_kind)) {
    admission.signing = ChunkSigning{.key = key,
                                     .access_key_id = std::string(claim.access_key_id),
                                     .amz_date = claim.amz_date,
                                     .scope = std::string(claim.scope),
                                     .seed_signature = std::string(claim.signature)};
  }
  return admission;
}

Result<Admission> Verifier::AdmitAnonymous(const s3::Exchange& exchange) const {
  if (!options_.allow_anonymous) return AccessDenied("Access Denied");
  return AdmitUnsigned(exchange);
}

Result<Admission> Verifier::AdmitUnsigned(const s3::Exchange& exchange) const {
  Admission admission;
  PENSTOCK_TRY(ReadUnsignedPayload(exchange, admission));
  return admission;
}

// Classifies the payload of a request whose signature cannot continue into chunks.
Result<void> Verifier::ReadUnsignedPayload(const s3::Exchange& exchange,
                                           Admission& admission) const {
  PENSTOCK_ASSIGN(admission.payload_claim, PayloadClaim(exchange, Mechanism::kAnonymous));
  PENSTOCK_ASSIGN(admission.payload_kind, Classify(admission.payload_claim));
  if (!IsSignedStreaming(admission.payload_kind)) return Ok();
  if (admission.mechanism != Mechanism::kAnonymous)
    return InvalidRequest("The value of x-amz-content-sha256 header is invalid.");
  return InvalidRequest(
      "Anonymous requests don't support this x-amz-content-sha256 value. Please use "
      "UNSIGNED-PAYLOAD or "
      "STREAMING-UNSIGNED-PAYLOAD-TRAILER.");
}

Result<PayloadKind> Verifier::Classify(std::string_view payload_claim) const {
  PENSTOCK_ASSIGN(const PayloadKind kind, ClassifyPayload(payload_claim));
  return kind == PayloadKind::kHash && options_.mode != Mode::kVerify ? PayloadKind::kUnsigned
                                                                      : kind;
}

// Returns the identity of the key if it may be used now and with this token.
Result<s3::Identity> Verifier::Identify(const s3::Exchange& exchange,
                                        std::string_view access_key_id, const User* user,
                                        std::optional<std::string_view> token) const {
  if (!user && options_.mode == Mode::kParse) return directory_.IdentityOf(access_key_id);
  if (!user || !user->active) return InvalidAccessKeyId(access_key_id);
  if (options_.mode == Mode::kVerify) PENSTOCK_TRY(CheckToken(token, access_key_id, *user));
  if (user->expires && TimeOf(exchange) >= *user->expires) {
    return ExpiredToken(token.value_or(std::string_view()));
  }
  return user->identity;
}

// Version 2 has no scope and never signs the payload.
Result<Admission> Verifier::AdmitVersionTwo(s3::Exchange& exchange, Mechanism mechanism) const {
  const bool in_query = mechanism == Mechanism::kVersionTwoQuery;
  PENSTOCK_ASSIGN(const VersionTwoClaim claim, in_query ? ParseVersionTwoQuery(exchange.target)
                                                        : ParseVersionTwoHeader(exchange.request));
  const std::shared_ptr<const User> user = FindUserOnce(directory_, exchange, claim.access_key_id);
  if (user) PENSTOCK_TRY(SetNamespace(exchange, directory_, *user));
  // Version 2 names no region, so the signature is valid in the bucket's own region.
  std::string region = s3::ExpectedSigningRegion(exchange, {}, options_.region);
  if (!SpeaksVersionTwo(region)) return VersionTwoRefused();
  PENSTOCK_TRY(CheckVersionTwoTime(claim, TimeOf(exchange)));
  auto token = in_query ? exchange.target.Get("x-amz-security-token") : std::nullopt;
  if (!token) token = exchange.request.Find("x-amz-security-token");
  Admission admission;
  admission.mechanism = mechanism;
  PENSTOCK_ASSIGN(admission.identity, Identify(exchange, claim.access_key_id, user.get(), token));
  if (options_.mode == Mode::kVerify) {
    PENSTOCK_TRY(CheckVersionTwoCoverage(exchange.target, claim));
    PENSTOCK_TRY(CheckVersionTwoSignature(exchange, claim, user->secret_access_key));
  }
  PENSTOCK_TRY(ReadUnsignedPayload(exchange, admission));
  exchange.signing_region = std::move(region);
  return admission;
}

Result<s3::Identity> Verifier::VerifyForm(s3::Exchange& exchange, const s3::Form& form,
                                          Mechanism admitted) {
  PENSTOCK_ASSIGN(const std::optional<FormClaim> claim, ParseFormClaim(form));
  if (!claim) {
    if (admitted == Mechanism::kAnonymous && !options_.allow_anonymous)
      return AccessDenied("Access Denied");
    return exchange.identity;
  }
  if (admitted != Mechanism::kAnonymous) {
    return InvalidArgument(
        "Only one auth mechanism allowed; a form with a signature is sent without another one",
        "Authorization");
  }
  exchange.signature.version =
      claim->version_two ? SignatureVersion::kV2Form : SignatureVersion::kV4Form;
  const std::shared_ptr<const User> user = FindUserOnce(directory_, exchange, claim->access_key_id);
  if (user) PENSTOCK_TRY(SetNamespace(exchange, directory_, *user));
  std::string region = s3::ExpectedSigningRegion(exchange, claim->region, options_.region);
  if (!claim->version_two) PENSTOCK_TRY(CheckFormScope(*claim, region));
  if (claim->version_two && !SpeaksVersionTwo(region)) return VersionTwoRefused();
  PENSTOCK_ASSIGN(s3::Identity identity,
                  Identify(exchange, claim->access_key_id, user.get(), claim->token));
  exchange.signing_region = std::move(region);
  if (options_.mode != Mode::kVerify) return identity;
  if (claim->version_two) {
    PENSTOCK_TRY(CheckFormSignature(*claim, user->secret_access_key));
  } else {
    PENSTOCK_TRY(CheckFormSignature(*claim, keys_.Get({.secret = user->secret_access_key,
                                                       .day = claim->day,
                                                       .region = claim->region,
                                                       .service = claim->service})));
  }
  return identity;
}

Result<void> Verifier::CheckTime(const Claim& claim, WallTime now) const {
  if (claim.mechanism == Mechanism::kQuery) {
    if (claim.time > now + kAllowedSkew) return NotYetValid(claim, now);
    if (now > ExpiryOf(claim)) return Expired(claim, now);
    return Ok();
  }
  if (claim.time <= now + kAllowedSkew && now <= claim.time + kAllowedSkew) return Ok();
  return RequestTimeTooSkewed(claim.date_as_sent, now);
}

Result<void> Verifier::CheckSignature(s3::Exchange& exchange, const Claim& claim,
                                      std::string_view payload_claim,
                                      const HmacSha256Key& key) const {
  const bool in_query = claim.mechanism == Mechanism::kQuery;
  std::string canonical;
  std::string string_to_sign;
  const auto matches = [&](std::string_view raw_query) {
    canonical = CanonicalRequest(
        {.head = exchange.request,
         .raw_path = exchange.target.raw_path,
         .raw_query = raw_query,
         .query_leave_out = in_query ? std::string_view("X-Amz-Signature") : std::string_view(),
         .signed_headers = claim.signed_headers,
         .payload_hash = payload_claim});
    string_to_sign = StringToSign(claim.amz_date, claim.scope, canonical);
    return ConstantTimeEqual(AsBytes(Signature(key, string_to_sign)), AsBytes(claim.signature));
  };
  const std::string& raw_query = exchange.target.raw_query;
  if (matches(raw_query)) return Ok();
  if (raw_query.find('+') != std::string::npos) {
    if (matches(WithSpaces(raw_query))) {
      exchange.target.ReadPlusAsSpace();
      exchange.resolved = nullptr;
      return Ok();
    }
    matches(raw_query);  // recomputes the strings that the error shows
  }
  return SignatureDoesNotMatch({.access_key_id = claim.access_key_id,
                                .string_to_sign = string_to_sign,
                                .signature_provided = claim.signature,
                                .canonical_request = canonical});
}

}  // namespace penstock::emulator::auth
