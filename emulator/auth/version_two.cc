#include "emulator/auth/version_two.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/api/text.h"
#include "emulator/auth/refusal.h"

namespace penstock::emulator::auth {
namespace {

// Parameters that belong to the resource; sorted. Others, such as prefix or max-keys, are not signed.
constexpr std::array<std::string_view, 35> kSignedParameters = {
    "accelerate", "acl", "analytics", "cors", "delete", "encryption", "inventory", "lifecycle", "location",
    "logging", "metrics", "notification", "object-lock", "partNumber", "policy", "replication", "requestPayment",
    "response-cache-control", "response-content-disposition", "response-content-encoding",
    "response-content-language", "response-content-type", "response-expires", "restore", "select", "select-type",
    "storageClass", "tagging", "torrent", "uploadId", "uploads", "versionId", "versioning", "versions", "website"};

// The header, or the query parameter that stands for it.
std::string_view HeaderOrParameter(const api::RequestHead& head, const api::Target& target, std::string_view name) {
  if (const auto value = head.Find(name)) return api::Trim(*value);
  for (const api::QueryParameter& parameter : target.query) {
    if (api::AsciiLower(parameter.name) == name) return parameter.value;
  }
  return {};
}

// "name:value\n" of every x-amz-* header and parameter, by name; several of one name joined by commas.
std::string AmzHeaders(const api::RequestHead& head, const api::Target& target) {
  std::map<std::string, std::string> found;
  const auto add = [&found](std::string_view name, std::string_view value) {
    std::string lower = api::AsciiLower(name);
    if (!lower.starts_with("x-amz-")) return;
    const auto [place, is_new] = found.try_emplace(std::move(lower), value);
    if (!is_new) place->second.append(",").append(value);
  };
  for (const api::HeaderView& header : head.headers) add(header.name, api::Trim(header.value));
  for (const api::QueryParameter& parameter : target.query) add(parameter.name, parameter.value);
  std::string lines;
  for (const auto& [name, value] : found) lines.append(name).append(":").append(value).append("\n");
  return lines;
}

// "/bucket/key" as sent, with the signed parameters sorted by name, their values decoded.
std::string Resource(const api::Target& target) {
  std::string resource = target.virtual_hosted ? "/" + target.bucket.value + target.raw_path : target.raw_path;
  std::vector<const api::QueryParameter*> signed_parameters;
  for (const api::QueryParameter& parameter : target.query) {
    if (std::binary_search(kSignedParameters.begin(), kSignedParameters.end(), parameter.name)) {
      signed_parameters.push_back(&parameter);
    }
  }
  std::sort(signed_parameters.begin(), signed_parameters.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  char separator = '?';
  for (const api::QueryParameter* parameter : signed_parameters) {
    resource += std::exchange(separator, '&');
    resource += parameter->name;
    if (!parameter->value.empty()) resource.append("=").append(parameter->value);
  }
  return resource;
}

}  // namespace

Result<VersionTwoClaim> ParseVersionTwoClaim(const api::Target& target) {
  const auto get = [&target](std::string_view name) { return target.Get(name).value_or(std::string_view()); };
  VersionTwoClaim claim{.access_key_id = get("AWSAccessKeyId"),
                        .signature = get("Signature"),
                        .expires_as_sent = get("Expires"),
                        .expires = {}};
  if (claim.access_key_id.empty() || claim.signature.empty() || claim.expires_as_sent.empty()) {
    return AccessDenied("Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters");
  }
  std::int64_t seconds = 0;
  const char* const end = claim.expires_as_sent.data() + claim.expires_as_sent.size();
  const auto parsed = std::from_chars(claim.expires_as_sent.data(), end, seconds);
  constexpr std::int64_t kLatest = 253402300799;  // the year 9999 ends
  if (parsed.ec != std::errc() || parsed.ptr != end || seconds < 0 || seconds > kLatest) {
    return AccessDenied("Invalid date (should be seconds since epoch): " + std::string(claim.expires_as_sent));
  }
  constexpr auto kClockEnd = std::chrono::floor<std::chrono::seconds>(WallTime::max()).time_since_epoch();
  claim.expires = WallTime(std::min(std::chrono::seconds(seconds), std::chrono::seconds(kClockEnd)));
  return claim;
}

std::string VersionTwoStringToSign(const api::RequestHead& head, const api::Target& target, std::string_view expires) {
  std::string text(head.method);
  text.append("\n").append(HeaderOrParameter(head, target, "content-md5"));
  text.append("\n").append(HeaderOrParameter(head, target, "content-type"));
  text.append("\n").append(expires).append("\n");
  return text + AmzHeaders(head, target) + Resource(target);
}

Result<void> CheckVersionTwoTime(const VersionTwoClaim& claim, WallTime now) {
  if (now <= claim.expires) return Ok();
  Error error = AccessDenied("Request has expired");
  error.details.emplace_back("Expires", FormatSeconds(claim.expires));
  error.details.emplace_back("ServerTime", FormatSeconds(now));
  return error;
}

Result<void> CheckVersionTwoSignature(const api::Exchange& exchange, const VersionTwoClaim& claim, std::string_view secret) {
  const std::string text = VersionTwoStringToSign(exchange.request, exchange.target, claim.expires_as_sent);
  const std::string expected = Base64Encode(HmacSha1(AsBytes(secret), AsBytes(text)));
  if (ConstantTimeEqual(AsBytes(expected), AsBytes(claim.signature))) return Ok();
  return SignatureDoesNotMatch({.access_key_id = claim.access_key_id,
                                .string_to_sign = text,
                                .signature_provided = claim.signature,
                                .canonical_request = {}});
}

}  // namespace penstock::emulator::auth
