// Properties of the parsers of request signatures (versions 2 and 4, header and query).
#ifndef PENSTOCK_EMULATOR_FUZZ_CLAIM_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_CLAIM_PROPERTIES_H_

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/claim.h"
#include "emulator/auth/signature/version_two.h"
#include "emulator/fuzz/s3_properties.h"
#include "emulator/s3/protocol/target.h"
#include "emulator/s3/protocol/text.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

inline std::string JoinedBySemicolons(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text.append(i == 0 ? "" : ";").append(names[i]);
  return text;
}

inline bool SameClaim(const auth::Claim& a, const auth::Claim& b) {
  return a.access_key_id == b.access_key_id && a.scope == b.scope &&
         a.signed_headers == b.signed_headers && a.signature == b.signature &&
         a.amz_date == b.amz_date && a.time == b.time && a.expires == b.expires;
}

// True if writing the claim and parsing it again must return the same claim. Empty header names and
// names with blanks are lost.
inline bool RoundTrips(const auth::Claim& claim) {
  return std::none_of(claim.signed_headers.begin(), claim.signed_headers.end(),
                      [](std::string_view name) {
                        return name.empty() || name.find_first_of(" \t") != std::string_view::npos;
                      });
}

// Returns the number of components of an Authorization header that begin with `name`.
inline int CountComponents(std::string_view header, std::string_view name) {
  int count = 0;
  header.remove_prefix(std::min(header.find(' ') + 1, header.size()));
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(','), header.size());
    if (s3::TrimBlanks(header.substr(0, end)).starts_with(name)) ++count;
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return count;
}

// Checks that the fields of a claim are consistent.
inline void CheckClaimFields(const auth::Claim& claim) {
  PENSTOCK_CHECK(!claim.access_key_id.empty() && !claim.signature.empty());
  std::string scope(claim.day);
  scope.append("/")
      .append(claim.region)
      .append("/")
      .append(claim.service)
      .append("/")
      .append(claim.terminal);
  PENSTOCK_CHECK(claim.scope == scope && claim.day.size() == 8);
  PENSTOCK_CHECK(std::is_sorted(claim.signed_headers.begin(), claim.signed_headers.end()));
  for (const std::string_view name : claim.signed_headers) PENSTOCK_CHECK(claim.Signs(name));
  PENSTOCK_CHECK(claim.expires >= std::chrono::seconds(0) &&
                 claim.expires <= std::chrono::seconds(604800));
  if (const auto scoped = auth::CheckScope(claim, "us-east-1", "s3"); !scoped.ok()) {
    CheckError(scoped.error());
  } else {
    PENSTOCK_CHECK(claim.region == "us-east-1" && claim.service == "s3" &&
                   claim.amz_date.starts_with(claim.day));
  }
}

// Writing the claim as a canonical Authorization header and parsing it returns the same claim.
inline void CheckHeaderClaim(const s3::RequestHead& head) {
  const Result<auth::Claim> claim = auth::ParseHeaderClaim(head);
  if (!claim.ok()) return CheckError(claim.error());
  CheckClaimFields(*claim);
  PENSTOCK_CHECK(claim->mechanism == auth::Mechanism::kHeader);
  for (const std::string_view name : {"Credential=", "SignedHeaders=", "Signature="}) {
    PENSTOCK_CHECK(CountComponents(*head.Find("authorization"), name) == 1);
  }
  if (!RoundTrips(*claim)) return;
  std::string value = "AWS4-HMAC-SHA256 Credential=";
  value.append(claim->access_key_id).append("/").append(claim->scope);
  value.append(", SignedHeaders=").append(JoinedBySemicolons(claim->signed_headers));
  value.append(", Signature=").append(claim->signature);
  s3::RequestHead written;
  written.headers = {{"Authorization", value}, {"X-Amz-Date", claim->amz_date}};
  const Result<auth::Claim> again = auth::ParseHeaderClaim(written);
  PENSTOCK_CHECK(again.ok() && SameClaim(*again, *claim));
}

// Writing the claim as a query string and parsing it returns the same claim.
inline void CheckQueryClaim(const s3::Target& target) {
  const Result<auth::Claim> claim = auth::ParseQueryClaim(target);
  if (!claim.ok()) return CheckError(claim.error());
  CheckClaimFields(*claim);
  PENSTOCK_CHECK(claim->mechanism == auth::Mechanism::kQuery);
  if (!RoundTrips(*claim)) return;
  const std::string credential =
      std::string(claim->access_key_id) + "/" + std::string(claim->scope);
  std::string text =
      "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + s3::PercentEncode(credential);
  text.append("&X-Amz-Date=")
      .append(claim->amz_date)
      .append("&X-Amz-Expires=")
      .append(std::to_string(claim->expires.count()));
  text.append("&X-Amz-SignedHeaders=")
      .append(s3::PercentEncode(JoinedBySemicolons(claim->signed_headers)));
  text.append("&X-Amz-Signature=").append(s3::PercentEncode(claim->signature));
  const Result<s3::Target> written = s3::ParseTarget(text, "127.0.0.1", {});
  PENSTOCK_CHECK(written.ok());
  const Result<auth::Claim> again = auth::ParseQueryClaim(*written);
  PENSTOCK_CHECK(again.ok() && SameClaim(*again, *claim));
}

// The string to sign covers `uploads`, and sub-resources that version 2 does not sign are refused.
inline void CheckVersionTwoClaim(const s3::RequestHead& head, const s3::Target& target,
                                 bool in_query) {
  const auto claim =
      in_query ? auth::ParseVersionTwoQuery(target) : auth::ParseVersionTwoHeader(head);
  if (!claim.ok()) return CheckError(claim.error());
  PENSTOCK_CHECK(claim->in_query == in_query && !claim->signature.empty());
  const std::string text = auth::VersionTwoStringToSign(head, target, *claim);
  PENSTOCK_CHECK(text.starts_with(std::string(head.method) + "\n"));
  const auto covered = auth::CheckVersionTwoCoverage(target, *claim);
  if (!covered.ok()) return CheckError(covered.error());
  s3::Target more = target;
  more.query.push_back({"uploads", ""});
  if (!target.Has("uploads"))
    PENSTOCK_CHECK(auth::VersionTwoStringToSign(head, more, *claim) != text);
  more.query.back() = {"publicAccessBlock", ""};
  PENSTOCK_CHECK(!auth::CheckVersionTwoCoverage(more, *claim).ok());
}

// The canonical query has the same parameters as the query.
inline void CheckCanonicalQuery(const s3::Target& target) {
  const auto parameters = [](const s3::Target& of) {
    std::multiset<std::pair<std::string, std::string>> pairs;
    for (const s3::QueryParameter& parameter : of.query)
      pairs.emplace(parameter.name, parameter.value);
    return pairs;
  };
  const std::string canonical = auth::CanonicalQuery(target.raw_query, {});
  const Result<s3::Target> again = s3::ParseTarget("/?" + canonical, "127.0.0.1", {});
  PENSTOCK_CHECK(again.ok() && parameters(*again) == parameters(target));
}

// Input: the request target, then header lines. A request uses at most one signature mechanism.
inline void CheckClaim(std::string_view input) {
  const std::string_view raw_target = TakeLine(input);
  const Result<s3::Target> target = s3::ParseTarget(raw_target, "127.0.0.1", {});
  if (!target.ok()) return CheckError(target.error());
  CheckCanonicalQuery(*target);
  s3::RequestHead head;
  head.method = "GET";
  head.target = raw_target;
  while (!input.empty() && head.headers.size() < 16) {
    const std::string_view line = TakeLine(input);
    const std::size_t colon = std::min(line.find(':'), line.size());
    head.headers.push_back(
        {line.substr(0, colon), s3::TrimBlanks(line.substr(std::min(colon + 1, line.size())))});
  }
  const Result<auth::Mechanism> mechanism = auth::FindMechanism(head, *target);
  if (!mechanism.ok()) return CheckError(mechanism.error());
  const bool header =
      *mechanism == auth::Mechanism::kHeader || *mechanism == auth::Mechanism::kVersionTwoHeader;
  PENSTOCK_CHECK(header == head.Find("authorization").has_value());
  if (*mechanism == auth::Mechanism::kHeader) CheckHeaderClaim(head);
  if (*mechanism == auth::Mechanism::kQuery) CheckQueryClaim(*target);
  if (*mechanism == auth::Mechanism::kVersionTwoHeader) CheckVersionTwoClaim(head, *target, false);
  if (*mechanism == auth::Mechanism::kVersionTwoQuery) CheckVersionTwoClaim(head, *target, true);
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_CLAIM_PROPERTIES_H_
