#include "emulator/identity/tokens/web_token.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/dates.h"
#include "base/encoding.h"
#include "emulator/json/json_tree.h"

namespace penstock::emulator::identity {
namespace {

struct Release {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
  void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

constexpr std::size_t kMaxTokenBytes = 20'000;  // AWS STS API Reference
constexpr std::chrono::minutes kClockTolerance{5};

struct Curve {
  std::string_view name;
  const char* group;
};
constexpr Curve kCurves[] = {
    {"P-256", "prime256v1"}, {"P-384", "secp384r1"}, {"P-521", "secp521r1"}};

struct Algorithm {
  std::string_view name;
  std::string_view key_type;
  const EVP_MD* (*digest)();
  std::size_t number_bytes;  // of an ECDSA signature's numbers
};
const Algorithm kAlgorithms[] = {
    {"RS256", "RSA", EVP_sha256, 0}, {"RS384", "RSA", EVP_sha384, 0},
    {"RS512", "RSA", EVP_sha512, 0}, {"ES256", "EC", EVP_sha256, 32},
    {"ES384", "EC", EVP_sha384, 48}, {"ES512", "EC", EVP_sha512, 66},
};

// Without padding (RFC 7515, section 2).
std::optional<std::string> DecodeUrl(std::string_view text) {
  std::string standard(text);
  for (char& c : standard) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  while (standard.size() % 4 != 0) standard += '=';
  return Base64Decode(standard);
}

std::string Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Owned<BIGNUM> Number(std::string_view bytes) {
  return Owned<BIGNUM>(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                                 static_cast<int>(bytes.size()), nullptr));
}

Owned<EVP_PKEY> Build(const char* type, OSSL_PARAM_BLD* builder) {
  const Owned<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  return Owned<EVP_PKEY>(key);
}

Owned<EVP_PKEY> RsaKey(const Json& json) {
  const auto modulus = DecodeUrl(Member(json, "n"));
  const auto exponent = DecodeUrl(Member(json, "e"));
  if (!modulus || !exponent || modulus->empty() || exponent->empty()) return nullptr;
  const Owned<BIGNUM> n = Number(*modulus);
  const Owned<BIGNUM> e = Number(*exponent);
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
    return nullptr;
  return Build("RSA", builder.get());
}

Owned<EVP_PKEY> CurveKey(const Json& json) {
  const auto x = DecodeUrl(Member(json, "x"));
  const auto y = DecodeUrl(Member(json, "y"));
  const std::string name = Member(json, "crv");
  const auto* const curve = std::find_if(std::begin(kCurves), std::end(kCurves),
                                         [&](const Curve& row) { return row.name == name; });
  if (!x || !y || x->empty() || x->size() != y->size() || curve == std::end(kCurves))
    return nullptr;
  const std::string point = "\x04" + *x + *y;  // uncompressed
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve->group, 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1)
    return nullptr;
  return Build("EC", builder.get());
}

Owned<EVP_PKEY> KeyOf(const Json& json) {
  if (!json.is_object()) return nullptr;
  const std::string type = Member(json, "kty");
  return type == "RSA" ? RsaKey(json) : type == "EC" ? CurveKey(json) : nullptr;
}

// ECDSA signatures of JSON Web Tokens are two numbers of the same length; OpenSSL reads DER.
std::optional<std::string> ToDer(std::string_view raw, std::size_t number_bytes) {
  if (raw.size() != 2 * number_bytes) return std::nullopt;
  const Owned<ECDSA_SIG> signature(ECDSA_SIG_new());
  Owned<BIGNUM> r = Number(raw.substr(0, number_bytes));
  Owned<BIGNUM> s = Number(raw.substr(number_bytes));
  if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1)
    return std::nullopt;
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  std::string der(static_cast<std::size_t>(std::max(i2d_ECDSA_SIG(signature.get(), nullptr), 0)),
                  '\0');
  auto* out = reinterpret_cast<unsigned char*>(der.data());
  if (der.empty() || i2d_ECDSA_SIG(signature.get(), &out) <= 0) return std::nullopt;
  return der;
}

bool IsSignedBy(EVP_PKEY* key, const Algorithm& algorithm, std::string_view text,
                std::string_view signature) {
  std::optional<std::string> bytes(signature);
  if (algorithm.number_bytes != 0) bytes = ToDer(signature, algorithm.number_bytes);
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  return bytes && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, algorithm.digest(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(bytes->data()),
                          bytes->size(), reinterpret_cast<const unsigned char*>(text.data()),
                          text.size()) == 1;
}

struct Parts {
  JsonTree header;
  JsonTree payload;
  std::string_view text;  // what is signed
  std::string signature;
};

std::optional<Parts> Split(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last || token.size() > kMaxTokenBytes)
    return std::nullopt;
  const auto header = DecodeUrl(token.substr(0, first));
  const auto payload = DecodeUrl(token.substr(first + 1, last - first - 1));
  auto signature = DecodeUrl(token.substr(last + 1));
  if (!header || !payload || !signature) return std::nullopt;
  auto header_json = ParseJsonTree(*header);
  auto payload_json = ParseJsonTree(*payload);
  if (!header_json.ok() || !payload_json.ok() || !header_json->root().is_object() ||
      !payload_json->root().is_object())
    return std::nullopt;
  return Parts{std::move(header_json).value(), std::move(payload_json).value(),
               token.substr(0, last), *std::move(signature)};
}

Error TokenError(std::string_view code, std::string message) {
  Error error = Error::Make(ErrorKind::kInvalidArgument, std::move(message));
  error.code = code;
  error.http_status = 400;
  return error;
}

Error Invalid(std::string message) {
  return TokenError("InvalidIdentityToken", std::move(message));
}

Result<void> CheckTokenSignature(const TokenProvider& provider, const Parts& parts) {
  // RFC 7515, section 4.1.11.
  if (parts.header.root().contains("crit")) {
    return Invalid(
        "The header of the token has critical extensions, the parameter 'crit'; none is supported");
  }
  const std::string name = Member(parts.header.root(), "alg");
  const auto* const algorithm =
      std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                   [&](const Algorithm& row) { return row.name == name; });
  if (algorithm == std::end(kAlgorithms)) {
    return Invalid("The token is signed with the algorithm '" + name +
                   "'; RS256, RS384, RS512, ES256, ES384 and ES512 are supported");
  }
  PENSTOCK_ASSIGN(const JsonTree keys, ParseJsonTree(provider.keys));
  const std::string id = Member(parts.header.root(), "kid");
  bool found = false;
  for (const Json& json : keys.root().at("keys")) {
    if (!json.is_object() || Member(json, "kty") != algorithm->key_type) continue;
    if (!id.empty() && Member(json, "kid") != id) continue;
    found = true;
    const Owned<EVP_PKEY> key = KeyOf(json);
    if (key && IsSignedBy(key.get(), *algorithm, parts.text, parts.signature)) return Ok();
  }
  if (found) return Invalid("The signature of the token is invalid");
  return Invalid("The keys of the identity provider have no key '" + id + "' of the type " +
                 std::string(algorithm->key_type));
}

// RFC 7519, section 2, NumericDate: seconds since 1970; a fraction is allowed. nullopt: the claim
// is missing.
Result<std::optional<WallTime>> TimeClaim(const Json& payload, const std::string& name) {
  const auto found = payload.find(name);
  if (found == payload.end()) return std::optional<WallTime>();
  if (!found->is_number())
    return Invalid("The claim " + name + " of the token must be a number of seconds since 1970");
  constexpr double kFarthest = 9e9;  // in the year 2255; WallTime ends in 2262
  const double seconds = std::clamp(found->get<double>(), -kFarthest, kFarthest);
  return std::optional(WallTime(std::chrono::seconds(static_cast<std::int64_t>(seconds))));
}

Result<void> CheckTimes(const Json& payload, WallTime now, bool must_expire) {
  PENSTOCK_ASSIGN(const std::optional<WallTime> expires, TimeClaim(payload, "exp"));
  if (!expires && must_expire) return Invalid("The token has no expiry, the claim exp");
  if (expires && now >= *expires) {
    return TokenError("ExpiredTokenException",
                      "Token expired: the current time " + FormatIso8601(now) +
                          " must be before the expiry " + FormatIso8601(*expires));
  }
  for (const char* const name : {"nbf", "iat"}) {
    PENSTOCK_ASSIGN(const std::optional<WallTime> from, TimeClaim(payload, name));
    if (from && *from - kClockTolerance > now)
      return Invalid("The token is not valid yet: its claim " + std::string(name) + " is " +
                     FormatIso8601(*from));
  }
  return Ok();
}

std::vector<std::string> Texts(const Json& value) {
  std::vector<std::string> texts;
  if (value.is_string()) texts.push_back(value.get<std::string>());
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
    if (value[i].is_string()) texts.push_back(value[i].get<std::string>());
  }
  return texts;
}

WebToken ReadClaims(const Json& payload) {
  WebToken token;
  for (const auto& [name, value] : payload.items()) {
    if (auto texts = Texts(value); !texts.empty()) token.claims.emplace(name, std::move(texts));
  }
  token.issuer = Member(payload, "iss");
  token.subject = Member(payload, "sub");
  if (const auto audience = payload.find("aud"); audience != payload.end())
    token.audiences = Texts(*audience);
  return token;
}

WebToken AnyToken(const TokenProvider& provider) {
  return {.issuer = provider.issuer,
          .subject = "any",
          .audiences = {provider.audiences.front()},
          .claims = {{"sub", {"any"}}, {"aud", {provider.audiences.front()}}}};
}

}  // namespace

Result<void> CheckKeySet(std::string_view json) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(json));
  const Json& root = tree.root();
  const auto keys = root.is_object() ? root.find("keys") : root.end();
  if (!root.is_object() || keys == root.end() || !keys->is_array() || keys->empty())
    return FieldError("", "must be a JSON Web Key Set: {\"keys\": [...]} with at least one key");
  for (std::size_t i = 0; i < keys->size(); ++i) {
    if (KeyOf((*keys)[i])) continue;
    return FieldError("keys[" + std::to_string(i) + "]",
                      "must be a public key with kty RSA (n, e) or EC (crv P-256, P-384 or P-521, "
                      "x, y)");
  }
  return Ok();
}

std::optional<std::string> IssuerOf(std::string_view token) {
  const auto parts = Split(token);
  if (!parts) return std::nullopt;
  return Member(parts->payload.root(), "iss");
}

Result<WebToken> VerifyToken(const TokenProvider& provider, std::string_view token, WallTime now) {
  const auto parts = Split(token);
  if (!parts) {
    if (provider.accepts_any_token && !token.empty()) return AnyToken(provider);
    return Invalid(
        "The ID Token provided is not a valid JWT. (You may see this error if you sent "
        "an Access Token)");
  }
  const Json& payload = parts->payload.root();
  const bool any = provider.accepts_any_token;
  if (!any) PENSTOCK_TRY(CheckTokenSignature(provider, *parts));
  WebToken claims = ReadClaims(payload);
  if (claims.issuer != provider.issuer)
    return Invalid("The issuer of the token is '" + claims.issuer + "', not '" + provider.issuer +
                   "'");
  const auto is_known = [&](const std::string& audience) {
    return std::find(provider.audiences.begin(), provider.audiences.end(), audience) !=
           provider.audiences.end();
  };
  if (!any && std::none_of(claims.audiences.begin(), claims.audiences.end(), is_known))
    return Invalid("Incorrect token audience");
  PENSTOCK_TRY(CheckTimes(payload, now, !any));
  if (claims.subject.empty()) return Invalid("The token has no subject, the claim sub");
  return claims;
}

}  // namespace penstock::emulator::identity
