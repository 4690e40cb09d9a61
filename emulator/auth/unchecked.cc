#include "emulator/auth/unchecked.h"

#include <string>
#include <string_view>
#include <utility>

#include "emulator/s3/core/regions.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::string_view kCredential = "Credential=";

// Returns the region of "akid/day/region/service/terminal"; empty for another form.
std::string_view RegionOf(std::string_view credential) {
  std::string_view region;
  for (int piece = 0; piece < 3; ++piece) {
    const std::size_t slash = credential.rfind('/');
    if (slash == std::string_view::npos) return {};
    region = credential.substr(slash + 1);
    credential = credential.substr(0, slash);
  }
  return region;
}

bool IsVersionFour(std::string_view authorization) { return authorization.starts_with("AWS4-"); }

std::string_view HeaderRegion(std::string_view authorization) {
  const std::size_t begin = authorization.find(kCredential);
  if (begin == std::string_view::npos) return {};
  const std::string_view credential = authorization.substr(begin + kCredential.size());
  return RegionOf(credential.substr(0, credential.find_first_of(", \t")));
}

bool InQuery(const s3::Target& target) {
  if (target.query.empty()) return false;
  for (const std::string_view name :
       {"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "AWSAccessKeyId", "Signature"}) {
    if (target.Has(name)) return true;
  }
  return false;
}

SignatureVersion ClaimedVersion(std::optional<std::string_view> authorization, bool in_query,
                                const s3::Target& target) {
  if (authorization)
    return IsVersionFour(*authorization) ? SignatureVersion::kV4 : SignatureVersion::kV2;
  if (!in_query) return SignatureVersion::kNone;
  return target.Has("AWSAccessKeyId") ? SignatureVersion::kV2Query : SignatureVersion::kV4Query;
}

std::string ClaimedRegion(const s3::Exchange& exchange,
                          std::optional<std::string_view> authorization, bool in_query,
                          const AuthOptions& options) {
  std::string_view region;
  if (authorization && IsVersionFour(*authorization)) {
    region = HeaderRegion(*authorization);
  } else if (const auto credential =
                 in_query ? exchange.target.Get("X-Amz-Credential") : std::nullopt) {
    region = RegionOf(*credential);
  } else if (authorization || in_query) {
    return s3::ExpectedSigningRegion(exchange, {}, options.region);  // version 2 has no region
  }
  return region.empty() ? exchange.target.host_region : std::string(region);
}

// Removes parameters that later handlers would misread: a session token of a directory bucket, and
// empty parameters, which look like sub-resources.
void DropSignatureParameters(s3::Target& target) {
  std::erase_if(target.query, [](const s3::QueryParameter& parameter) {
    return IsSignatureParameter(parameter.name) &&
           (parameter.value.empty() ||
            s3::EqualsIgnoreCase(parameter.name, "x-amz-s3session-token"));
  });
}

}  // namespace

Result<Admission> AdmitUnchecked(s3::Exchange& exchange, const AuthOptions& options,
                                 const Directory& directory) {
  exchange.space = directory.NamespaceOf(nullptr);
  const bool in_query = InQuery(exchange.target);
  const auto authorization = exchange.request.Find("authorization");
  exchange.signing_region = ClaimedRegion(exchange, authorization, in_query, options);
  exchange.signature.version = ClaimedVersion(authorization, in_query, exchange.target);

  Admission admission;
  admission.identity = directory.DefaultIdentity();
  if (in_query) admission.mechanism = Mechanism::kQuery;
  auto claim = exchange.request.Find("x-amz-content-sha256");
  if (in_query && !claim) claim = exchange.target.Get("X-Amz-Content-Sha256");
  if (in_query && !claim) claim = exchange.target.Get("x-amz-content-sha256");
  // Only the framing of the body matters; other values are ignored.
  if (claim && claim->starts_with("STREAMING-")) {
    admission.payload_claim = *claim;
    PENSTOCK_ASSIGN(admission.payload_kind, ClassifyPayload(*claim));
  }
  if (in_query) {
    DropSignatureParameters(exchange.target);
    exchange.resolved = nullptr;
  }
  return admission;
}

}  // namespace penstock::emulator::auth
