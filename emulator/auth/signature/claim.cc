#include "emulator/auth/signature/claim.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/dates.h"
#include "emulator/auth/signature/refusal.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kAsymmetricAlgorithm = "AWS4-ECDSA-P256-SHA256";
constexpr std::string_view kCredentialForm =
    "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".";
constexpr long long kLongestExpirySeconds = 604800;

Error HeaderMalformed(std::string message) {
  return s3::MakeError("AuthorizationHeaderMalformed", {}, std::move(message));
}

Error QueryParameters(std::string message) {
  return s3::MakeError("AuthorizationQueryParametersError", {}, std::move(message));
}

// Formats a complaint about a credential in the wording of the mechanism.
Error CredentialError(Mechanism mechanism, std::string_view complaint) {
  if (mechanism == Mechanism::kQuery) {
    return QueryParameters("Error parsing the X-Amz-Credential parameter; " +
                           std::string(complaint));
  }
  return HeaderMalformed("The authorization header is malformed; " + std::string(complaint));
}

Error AsymmetricUnsupported() {
  return NotImplemented(
      "Signature Version 4A (AWS4-ECDSA-P256-SHA256) is not implemented; sign with "
      "AWS4-HMAC-SHA256.");
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Removes the last "/x" from `text` and returns x; nullopt if there is none.
std::optional<std::string_view> CutLast(std::string_view& text) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view last = text.substr(slash + 1);
  text = text.substr(0, slash);
  return last;
}

bool IsDay(std::string_view text) {
  return text.size() == 8 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Indexes of kSignatureParameters.
enum SignatureParameter : std::uint8_t {
  kAlgorithmParameter,
  kCredentialParameter,
  kSignatureParameter,
  kVersionTwoKeyParameter,
  kVersionTwoSignatureParameter,
};
// Query parameters that belong to a signature of either version.
constexpr std::array<std::string_view, 12> kSignatureParameters = {"X-Amz-Algorithm",
                                                                   "X-Amz-Credential",
                                                                   "X-Amz-Signature",
                                                                   "AWSAccessKeyId",
                                                                   "Signature",
                                                                   "Expires",
                                                                   "X-Amz-Date",
                                                                   "X-Amz-Expires",
                                                                   "X-Amz-SignedHeaders",
                                                                   "X-Amz-Security-Token",
                                                                   "X-Amz-Content-Sha256",
                                                                   "X-Amz-S3session-Token"};
static_assert(kSignatureParameters[kVersionTwoSignatureParameter] == "Signature");

// Returns the index of `name` in kSignatureParameters, ignoring case; the table's size if it is not
// there.
std::size_t SignatureParameterIndex(std::string_view name) {
  for (std::size_t place = 0; place < kSignatureParameters.size(); ++place) {
    const std::string_view known = kSignatureParameters[place];
    if (known.size() == name.size() && (known == name || s3::EqualsIgnoreCase(known, name)))
      return place;
  }
  return kSignatureParameters.size();
}

// Where a request carries parts of a signature.
struct SignatureParts {
  std::optional<std::string_view> authorization;
  // A bit per index of kSignatureParameters, for names with the exact case of the table.
  std::uint32_t parameters = 0;

  bool Has(SignatureParameter parameter) const { return (parameters >> parameter & 1) != 0; }
};

// Rejects a second copy of a part: a proxy or a log may read another copy than this server.
Result<SignatureParts> FindSignatureParts(const s3::RequestHead& head, const s3::Target& target) {
  constexpr std::string_view kAuthorization = "authorization";
  SignatureParts parts;
  for (const s3::HeaderView& header : head.headers) {
    if (header.name.size() != kAuthorization.size() ||
        !s3::EqualsIgnoreCase(header.name, kAuthorization))
      continue;
    if (parts.authorization)
      return InvalidArgument("The Authorization header is given twice; send one", "Authorization");
    parts.authorization = header.value;
  }
  std::uint32_t in_any_case = 0;  // X-Amz-Signature and x-amz-signature count as copies
  for (const s3::QueryParameter& parameter : target.query) {
    const std::size_t place = SignatureParameterIndex(parameter.name);
    if (place == kSignatureParameters.size()) continue;
    const std::uint32_t bit = std::uint32_t{1} << place;
    if ((in_any_case & bit) != 0) {
      return InvalidArgument("The query parameter " + parameter.name + " is given twice; send one",
                             parameter.name);
    }
    in_any_case |= bit;
    if (parameter.name == kSignatureParameters[place]) parts.parameters |= bit;
  }
  return parts;
}

// Sets access key and scope from "akid/day/region/service/terminal".
Result<void> SplitCredential(Claim& claim, std::string_view credential) {
  std::string_view rest = credential;
  const auto terminal = CutLast(rest);
  const auto service = CutLast(rest);
  const auto region = CutLast(rest);
  const auto day = CutLast(rest);
  if (!terminal || !service || !region || !day || rest.empty()) {
    return CredentialError(claim.mechanism, kCredentialForm);
  }
  claim.access_key_id = rest;
  claim.scope = credential.substr(rest.size() + 1);
  claim.day = *day;
  claim.region = *region;
  claim.service = *service;
  claim.terminal = *terminal;
  if (!IsDay(claim.day)) {
    return CredentialError(
        claim.mechanism, "incorrect date format \"" + std::string(claim.day) +
                             "\". This date in the credential must be in the format \"yyyyMMdd\".");
  }
  return Ok();
}

std::vector<std::string_view> SplitSignedHeaders(std::string_view list) {
  std::vector<std::string_view> names;
  names.reserve(12);
  while (!list.empty()) {
    const std::size_t end = list.find(';');
    names.push_back(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  // The canonical request has sorted headers. A client that signed another order does not match.
  if (!std::is_sorted(names.begin(), names.end())) std::sort(names.begin(), names.end());
  return names;
}

struct Components {
  std::string_view credential;
  std::string_view signed_headers;
  std::string_view signature;
};

Result<Components> SplitComponents(std::string_view list) {
  Components found;
  const std::array<std::pair<std::string_view, std::string_view*>, 3> components = {
      {{"Credential", &found.credential},
       {"SignedHeaders", &found.signed_headers},
       {"Signature", &found.signature}}};
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    const std::string_view piece = Trimmed(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    const std::size_t equals = piece.find('=');
    const std::string_view name = piece.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view("") : piece.substr(equals + 1);
    for (const auto& [known, component] : components) {
      if (name != known) continue;
      if (component->data() != nullptr) {  // already found, even with an empty value
        return HeaderMalformed("The authorization header is malformed; the component " +
                               std::string(name) + " is given twice.");
      }
      *component = value;
    }
  }
  if (found.credential.empty() || found.signed_headers.empty() || found.signature.empty()) {
    return HeaderMalformed(
        "The authorization header is malformed; the authorization header requires three "
        "components: Credential, "
        "SignedHeaders, and Signature.");
  }
  return found;
}

// Reads the request's date: x-amz-date, else Date in HTTP or ISO basic format.
Result<void> ReadHeaderDate(Claim& claim, const s3::RequestHead& head) {
  const auto amz_date = head.Find("x-amz-date");
  const auto date = amz_date ? amz_date : head.Find("date");
  std::optional<WallTime> time;
  if (date) time = ParseAmzDate(*date);
  if (date && !time && !amz_date) time = ParseHttpDate(*date);
  if (!time) return AccessDenied("AWS authentication requires a valid Date or x-amz-date header");
  claim.date_as_sent = *date;
  claim.time = *time;
  claim.amz_date = FormatAmzDate(*time);
  return Ok();
}

Result<std::chrono::seconds> ParseExpires(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  const bool number = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return QueryParameters("X-Amz-Expires should be a number");
  if (negative) return QueryParameters("X-Amz-Expires must be non-negative");
  long long value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc() || value > kLongestExpirySeconds) {
    return QueryParameters(
        "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires "
        "must be less than 604800 "
        "seconds");
  }
  return std::chrono::seconds(value);
}

}  // namespace

bool Claim::Signs(std::string_view lower_name) const {
  return std::binary_search(signed_headers.begin(), signed_headers.end(), lower_name);
}

bool IsSignatureParameter(std::string_view name) {
  return SignatureParameterIndex(name) < kSignatureParameters.size();
}

Result<Mechanism> FindMechanism(const s3::RequestHead& head, const s3::Target& target) {
  PENSTOCK_ASSIGN(const SignatureParts parts, FindSignatureParts(head, target));
  const auto& authorization = parts.authorization;
  const bool header = authorization.has_value();
  const bool version_two =
      parts.Has(kVersionTwoSignatureParameter) || parts.Has(kVersionTwoKeyParameter);
  const bool query = parts.Has(kAlgorithmParameter) || parts.Has(kSignatureParameter) ||
                     parts.Has(kCredentialParameter);
  if (static_cast<int>(header) + static_cast<int>(version_two) + static_cast<int>(query) > 1) {
    return InvalidArgument(
        "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature "
        "query string parameter or "
        "the Authorization header should be specified",
        "Authorization", authorization);
  }
  if (version_two) return Mechanism::kVersionTwoQuery;
  if (query) return Mechanism::kQuery;
  if (header && authorization->starts_with("AWS ")) return Mechanism::kVersionTwoHeader;
  return header ? Mechanism::kHeader : Mechanism::kAnonymous;
}

Result<Claim> ParseHeaderClaim(const s3::RequestHead& head) {
  const std::string_view value = head.Find("authorization").value_or(std::string_view());
  const std::size_t space = value.find(' ');
  if (space == std::string_view::npos || space == 0 || Trimmed(value.substr(space)).empty()) {
    return InvalidArgument(
        "Authorization header is invalid -- one and only one ' ' (space) required.",
        "Authorization", value);
  }
  const std::string_view type = value.substr(0, space);
  if (type == kAsymmetricAlgorithm) return AsymmetricUnsupported();
  if (type != kAlgorithm)
    return InvalidArgument("Unsupported Authorization Type", "Authorization", value);

  Claim claim;
  claim.mechanism = Mechanism::kHeader;
  PENSTOCK_ASSIGN(const Components components, SplitComponents(value.substr(space + 1)));
  PENSTOCK_TRY(SplitCredential(claim, components.credential));
  claim.signed_headers = SplitSignedHeaders(components.signed_headers);
  claim.signature = components.signature;
  PENSTOCK_TRY(ReadHeaderDate(claim, head));
  return claim;
}

Result<Claim> ParseQueryClaim(const s3::Target& target) {
  const auto get = [&target](std::string_view name) {
    return target.Get(name).value_or(std::string_view());
  };
  const std::string_view algorithm = get("X-Amz-Algorithm");
  const std::string_view credential = get("X-Amz-Credential");
  const std::string_view date = get("X-Amz-Date");
  const std::string_view expires = get("X-Amz-Expires");
  const std::string_view signed_headers = get("X-Amz-SignedHeaders");
  const std::string_view signature = get("X-Amz-Signature");
  for (const std::string_view needed :
       {algorithm, credential, date, expires, signed_headers, signature}) {
    if (!needed.empty()) continue;
    return QueryParameters(
        "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, "
        "X-Amz-Signature, "
        "X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.");
  }
  if (algorithm == kAsymmetricAlgorithm) return AsymmetricUnsupported();
  if (algorithm != kAlgorithm) {
    return QueryParameters(
        "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256\"");
  }
  Claim claim;
  claim.mechanism = Mechanism::kQuery;
  PENSTOCK_TRY(SplitCredential(claim, credential));
  const auto time = ParseAmzDate(date);
  if (!time) {
    return QueryParameters(
        "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"");
  }
  claim.date_as_sent = date;
  claim.time = *time;
  claim.amz_date = std::string(date);
  PENSTOCK_ASSIGN(claim.expires, ParseExpires(expires));
  claim.signed_headers = SplitSignedHeaders(signed_headers);
  claim.signature = signature;
  return claim;
}

Result<void> CheckScope(const Claim& claim, std::string_view region, std::string_view service) {
  if (claim.region.empty()) {
    return CredentialError(claim.mechanism,
                           "a non-empty region must be provided in the credential.");
  }
  if (claim.region != region) {
    Error error =
        CredentialError(claim.mechanism, "the region '" + std::string(claim.region) +
                                             "' is wrong; expecting '" + std::string(region) + "'");
    error.kind = ErrorKind::kWrongRegion;
    error.region = std::string(region);
    error.details.emplace_back("Region", region);
    return error;
  }
  if (claim.service != service) {
    return CredentialError(claim.mechanism, "incorrect service \"" + std::string(claim.service) +
                                                "\". This endpoint belongs to \"" +
                                                std::string(service) + "\".");
  }
  if (claim.terminal != "aws4_request") {
    return CredentialError(claim.mechanism, "incorrect terminal \"" + std::string(claim.terminal) +
                                                "\". This endpoint uses \"aws4_request\".");
  }
  const std::string_view day = std::string_view(claim.amz_date).substr(0, 8);
  if (claim.day == day) return Ok();
  if (claim.mechanism == Mechanism::kHeader) {
    return CredentialError(claim.mechanism,
                           "Invalid credential date. Date is not the same as X-Amz-Date.");
  }
  return CredentialError(claim.mechanism, "Invalid credential date \"" + std::string(claim.day) +
                                              "\". This date is not the same as X-Amz-Date: \"" +
                                              std::string(day) + "\".");
}

}  // namespace penstock::emulator::auth
