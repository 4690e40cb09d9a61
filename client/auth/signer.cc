#include "client/auth/signer.h"

#include <initializer_list>
#include <optional>
#include <utility>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "client/auth/canonical.h"
#include "client/http/uri.h"

namespace penstock::auth {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kTerminal = "aws4_request";
constexpr std::chrono::seconds kLongestPresign{604'800};

bool IsS3(std::string_view service) {
  return service == "s3" || service == "s3express" || service == "s3-object-lambda";
}

std::string_view TokenHeader(TokenKind token) {
  return token == TokenKind::kS3Session ? "x-amz-s3session-token" : "x-amz-security-token";
}

std::string_view TokenParameter(TokenKind token) {
  return token == TokenKind::kS3Session ? "X-Amz-S3session-Token" : "X-Amz-Security-Token";
}

void Remove(std::vector<http::Header>& headers, std::initializer_list<std::string_view> names) {
  std::erase_if(headers, [&](const http::Header& header) {
    for (const std::string_view name : names) {
      if (http::EqualsIgnoringCase(header.name, name)) return true;
    }
    return false;
  });
}

Result<void> CheckCredentials(const Credentials& credentials) {
  if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty()) return Ok();
  return Error::Make(ErrorKind::kUnauthenticated,
                     "the credentials have no access key id or no secret access key");
}

Result<void> Check(const http::Request& request, const Credentials& credentials) {
  PENSTOCK_TRY(CheckCredentials(credentials));
  if (!request.target.starts_with('/')) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "a request target must start with '/' to be signed");
  }
  if (!http::FindHeader(request.headers, "Host")) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "a request needs its Host header before it is signed");
  }
  return Ok();
}

struct SplitTarget {
  std::string_view path;
  std::string_view query;
};

SplitTarget Split(std::string_view target) {
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return {target, {}};
  return {target.substr(0, question), target.substr(question + 1)};
}

std::string HexSha256(std::string_view text) { return HexEncode(Sha256(AsBytes(text))); }

std::string CredentialScope(std::string_view day, const SigningScope& scope) {
  std::string out;
  out.reserve(day.size() + scope.region.size() + scope.service.size() + kTerminal.size() + 3);
  out.append(day)
      .append("/")
      .append(scope.region)
      .append("/")
      .append(scope.service)
      .append("/")
      .append(kTerminal);
  return out;
}

std::string StringToSign(std::string_view amz_date, std::string_view credential_scope,
                         std::string_view canonical) {
  std::string out;
  out.reserve(kAlgorithm.size() + amz_date.size() + credential_scope.size() +
              2 * sizeof(Sha256Digest) + 3);
  out.append(kAlgorithm)
      .append("\n")
      .append(amz_date)
      .append("\n")
      .append(credential_scope)
      .append("\n")
      .append(HexSha256(canonical));
  return out;
}

}  // namespace

// The last key of the HMAC chain, with the secret it was derived from, to detect changed
// credentials.
struct Signer::CachedKey {
  CachedKey(std::string_view of_day, const std::string& of_secret, const Sha256Digest& derived)
      : day(of_day), secret(of_secret), key(derived) {}

  const std::string day;
  const std::string secret;
  const HmacSha256Key key;

  std::string Sign(std::string_view text) const { return HexEncode(key.Sign(AsBytes(text))); }
};

std::string PayloadSha256(ByteView body) { return HexEncode(Sha256(body)); }

Signer::Signer(SigningScope scope) : scope_(std::move(scope)) {}
Signer::~Signer() = default;

std::shared_ptr<const Signer::CachedKey> Signer::KeyFor(const Credentials& credentials,
                                                        std::string_view day) const {
  {
    const MutexLock lock(mutex_);
    if (cached_ != nullptr && cached_->day == day &&
        cached_->secret == credentials.secret_access_key)
      return cached_;
  }
  Sha256Digest key = HmacSha256(AsBytes("AWS4" + credentials.secret_access_key), AsBytes(day));
  for (const std::string_view step :
       {std::string_view(scope_.region), std::string_view(scope_.service), kTerminal}) {
    key = HmacSha256(key, AsBytes(step));
  }
  auto fresh = std::make_shared<const CachedKey>(day, credentials.secret_access_key, key);
  const MutexLock lock(mutex_);
  cached_ = fresh;
  return fresh;
}

Result<void> Signer::Sign(http::Request& request, const Credentials& credentials,
                          const SignInput& input, SignatureTrace* trace) const {
  PENSTOCK_TRY(Check(request, credentials));
  const std::string amz_date = FormatAmzDate(input.now);
  const std::string_view day = std::string_view(amz_date).substr(0, 8);
  const bool is_s3 = IsS3(scope_.service);
  Remove(request.headers,
         {"Authorization", "x-amz-date", "x-amz-security-token", "x-amz-s3session-token",
          is_s3 ? std::string_view("x-amz-content-sha256") : std::string_view("Authorization")});
  if (is_s3) {
    request.headers.push_back({"x-amz-content-sha256", std::string(input.payload_hash)});
  }
  request.headers.push_back({"x-amz-date", amz_date});
  if (!credentials.session_token.empty()) {
    request.headers.push_back({std::string(TokenHeader(scope_.token)), credentials.session_token});
  }

  const auto [path, query] = Split(request.target);
  const CanonicalHeaders headers = CanonicalizeHeaders(request.headers);
  std::string canonical =
      CanonicalRequest(request.method, path, CanonicalQuery(query), headers, input.payload_hash);
  const std::string credential_scope = CredentialScope(day, scope_);
  std::string to_sign = StringToSign(amz_date, credential_scope, canonical);
  std::string signature = KeyFor(credentials, day)->Sign(to_sign);

  std::string value;
  value.reserve(kAlgorithm.size() + credentials.access_key_id.size() + credential_scope.size() +
                headers.names.size() + signature.size() + 42);
  value.append(kAlgorithm)
      .append(" Credential=")
      .append(credentials.access_key_id)
      .append("/")
      .append(credential_scope);
  value.append(", SignedHeaders=").append(headers.names);
  value.append(", Signature=").append(signature);
  request.headers.push_back({"Authorization", std::move(value)});
  if (trace != nullptr)
    *trace = {std::move(canonical), std::move(to_sign), headers.names, std::move(signature)};
  return Ok();
}

Result<void> Signer::Presign(http::Request& request, const Credentials& credentials,
                             const PresignInput& input, SignatureTrace* trace) const {
  PENSTOCK_TRY(Check(request, credentials));
  if (input.expires < std::chrono::seconds(1) || input.expires > kLongestPresign) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "a presigned URL is valid for 1 to 604800 seconds, not " +
                           std::to_string(input.expires.count()));
  }
  const std::string amz_date = FormatAmzDate(input.now);
  const std::string_view day = std::string_view(amz_date).substr(0, 8);
  const std::string credential_scope = CredentialScope(day, scope_);
  Remove(request.headers, {"Authorization", "x-amz-date", TokenHeader(scope_.token)});
  const CanonicalHeaders headers = CanonicalizeHeaders(request.headers);

  http::QueryParameters added = {
      {"X-Amz-Algorithm", std::string(kAlgorithm)},
      {"X-Amz-Credential", credentials.access_key_id + "/" + credential_scope},
      {"X-Amz-Date", amz_date},
      {"X-Amz-Expires", std::to_string(input.expires.count())},
      {"X-Amz-SignedHeaders", headers.names}};
  if (!credentials.session_token.empty()) {
    added.emplace_back(TokenParameter(scope_.token), credentials.session_token);
  }
  std::string target = request.target;
  target.append(target.find('?') == std::string::npos ? "?" : target.ends_with('?') ? "" : "&");
  target.append(http::BuildQuery(added));

  const auto [path, query] = Split(target);
  std::string canonical =
      CanonicalRequest(request.method, path, CanonicalQuery(query), headers, input.payload_hash);
  std::string to_sign = StringToSign(amz_date, credential_scope, canonical);
  std::string signature = KeyFor(credentials, day)->Sign(to_sign);
  request.target = target + "&X-Amz-Signature=" + signature;
  if (trace != nullptr)
    *trace = {std::move(canonical), std::move(to_sign), headers.names, std::move(signature)};
  return Ok();
}

Result<std::vector<std::pair<std::string, std::string>>> Signer::FormFields(
    const Credentials& credentials, WallTime now) const {
  PENSTOCK_TRY(CheckCredentials(credentials));
  const std::string amz_date = FormatAmzDate(now);
  const std::string_view day = std::string_view(amz_date).substr(0, 8);
  std::vector<std::pair<std::string, std::string>> fields = {
      {"x-amz-algorithm", std::string(kAlgorithm)},
      {"x-amz-credential", credentials.access_key_id + "/" + CredentialScope(day, scope_)},
      {"x-amz-date", amz_date}};
  if (!credentials.session_token.empty())
    fields.emplace_back(TokenHeader(scope_.token), credentials.session_token);
  return fields;
}

std::string Signer::SignText(const Credentials& credentials, WallTime now,
                             std::string_view text) const {
  return KeyFor(credentials, FormatAmzDay(now))->Sign(text);
}

}  // namespace penstock::auth
