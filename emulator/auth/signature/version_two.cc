#include "emulator/auth/signature/version_two.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/auth/signature/refusal.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::auth {
namespace {

// Parameters that are part of the signed resource; sorted. Others, such as prefix or max-keys, are
// not signed.
constexpr std::array<std::string_view, 35> kSignedParameters = {"accelerate",
                                                                "acl",
                                                                "analytics",
                                                                "cors",
                                                                "delete",
                                                                "encryption",
                                                                "inventory",
                                                                "lifecycle",
                                                                "location",
                                                                "logging",
                                                                "metrics",
                                                                "notification",
                                                                "object-lock",
                                                                "partNumber",
                                                                "policy",
                                                                "replication",
                                                                "requestPayment",
                                                                "response-cache-control",
                                                                "response-content-disposition",
                                                                "response-content-encoding",
                                                                "response-content-language",
                                                                "response-content-type",
                                                                "response-expires",
                                                                "restore",
                                                                "select",
                                                                "select-type",
                                                                "storageClass",
                                                                "tagging",
                                                                "torrent",
                                                                "uploadId",
                                                                "uploads",
                                                                "versionId",
                                                                "versioning",
                                                                "versions",
                                                                "website"};

// Parameters that version 2 clients send unsigned: position and format of a list. Sorted. Other
// unsigned parameters are rejected: sub-resources from after 2014 could turn a presigned URL into
// another operation.
constexpr std::array<std::string_view, 21> kUnsignedParameters = {"AWSAccessKeyId",
                                                                  "Expires",
                                                                  "Signature",
                                                                  "bucket-region",
                                                                  "continuation-token",
                                                                  "delimiter",
                                                                  "encoding-type",
                                                                  "fetch-owner",
                                                                  "key-marker",
                                                                  "list-type",
                                                                  "marker",
                                                                  "max-buckets",
                                                                  "max-keys",
                                                                  "max-parts",
                                                                  "max-uploads",
                                                                  "part-number-marker",
                                                                  "prefix",
                                                                  "start-after",
                                                                  "upload-id-marker",
                                                                  "version-id-marker",
                                                                  "x-id"};

bool IsSigned(std::string_view parameter) {
  return std::binary_search(kSignedParameters.begin(), kSignedParameters.end(), parameter);
}

// From botocore's endpoint data.
constexpr std::array<std::string_view, 9> kVersionTwoRegions = {
    "ap-northeast-1", "ap-southeast-1", "ap-southeast-2", "eu-west-1", "sa-east-1",
    "us-east-1",      "us-gov-west-1",  "us-west-1",      "us-west-2"};

// Returns the header's value or, in a presigned URL, that of the parameter that replaces it.
std::string_view SignedValue(const s3::RequestHead& head, const s3::Target& target,
                             std::string_view name, bool in_query) {
  if (const auto value = head.Find(name)) return s3::TrimBlanks(*value);
  if (!in_query) return {};
  for (const s3::QueryParameter& parameter : target.query) {
    if (AsciiLower(parameter.name) == name) return parameter.value;
  }
  return {};
}

// Returns "name:value\n" for every x-amz-* header, and in a presigned URL for every such parameter,
// sorted by name. Values of one name are joined with commas.
std::string AmzHeaders(const s3::RequestHead& head, const s3::Target& target, bool in_query) {
  std::map<std::string, std::string> found;
  const auto add = [&found](std::string_view name, std::string_view value) {
    std::string lower = AsciiLower(name);
    if (!lower.starts_with("x-amz-")) return;
    const auto [place, is_new] = found.try_emplace(std::move(lower), value);
    if (!is_new) place->second.append(",").append(value);
  };
  for (const s3::HeaderView& header : head.headers) add(header.name, s3::TrimBlanks(header.value));
  if (in_query) {
    for (const s3::QueryParameter& parameter : target.query) add(parameter.name, parameter.value);
  }
  std::string lines;
  for (const auto& [name, value] : found) lines.append(name).append(":").append(value).append("\n");
  return lines;
}

// Returns "/bucket/key" as sent, with the signed parameters sorted by name and their values
// decoded.
std::string Resource(const s3::Target& target) {
  std::string resource =
      target.virtual_hosted ? "/" + target.bucket.value + target.raw_path : target.raw_path;
  std::vector<const s3::QueryParameter*> signed_parameters;
  for (const s3::QueryParameter& parameter : target.query) {
    if (IsSigned(parameter.name)) signed_parameters.push_back(&parameter);
  }
  std::sort(signed_parameters.begin(), signed_parameters.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  char separator = '?';
  for (const s3::QueryParameter* parameter : signed_parameters) {
    resource += std::exchange(separator, '&');
    resource += parameter->name;
    if (!parameter->value.empty()) resource.append("=").append(parameter->value);
  }
  return resource;
}

// Parses an HTTP date, also with the numeric zone of RFC 822 that s3cmd uses, or a version 4 date.
std::optional<WallTime> ParseAnyDate(std::string_view text) {
  constexpr std::string_view kUniversal = " +0000";
  if (text.ends_with(kUniversal))
    return ParseHttpDate(std::string(text.substr(0, text.size() - kUniversal.size())) + " GMT");
  const auto time = ParseHttpDate(text);
  return time ? time : ParseAmzDate(text);
}

}  // namespace

bool SpeaksVersionTwo(std::string_view region) {
  return std::find(kVersionTwoRegions.begin(), kVersionTwoRegions.end(), region) !=
         kVersionTwoRegions.end();
}

Result<VersionTwoClaim> ParseVersionTwoQuery(const s3::Target& target) {
  const auto get = [&target](std::string_view name) {
    return target.Get(name).value_or(std::string_view());
  };
  VersionTwoClaim claim{.in_query = true,
                        .access_key_id = get("AWSAccessKeyId"),
                        .signature = get("Signature"),
                        .date_line = get("Expires"),
                        .date_as_sent = get("Expires"),
                        .time = {}};
  if (claim.access_key_id.empty() || claim.signature.empty() || claim.date_line.empty()) {
    return AccessDenied(
        "Query-string authentication requires the Signature, Expires and AWSAccessKeyId "
        "parameters");
  }
  std::int64_t seconds = 0;
  const char* const end = claim.date_line.data() + claim.date_line.size();
  const auto parsed = std::from_chars(claim.date_line.data(), end, seconds);
  constexpr std::int64_t kLatest = 253402300799;  // end of the year 9999
  if (parsed.ec != std::errc() || parsed.ptr != end || seconds < 0 || seconds > kLatest) {
    return AccessDenied("Invalid date (should be seconds since epoch): " +
                        std::string(claim.date_line));
  }
  constexpr auto kClockEnd =
      std::chrono::floor<std::chrono::seconds>(WallTime::max()).time_since_epoch();
  claim.time = WallTime(std::min(std::chrono::seconds(seconds), std::chrono::seconds(kClockEnd)));
  return claim;
}

Result<VersionTwoClaim> ParseVersionTwoHeader(const s3::RequestHead& head) {
  constexpr std::string_view kScheme = "AWS ";
  const std::string_view value = head.Find("authorization").value_or(std::string_view());
  const std::string_view pair = value.substr(std::min(value.size(), kScheme.size()));
  if (pair.find(' ') != std::string_view::npos) {
    return InvalidArgument(
        "Authorization header is invalid -- one and only one ' ' (space) required.",
        "Authorization", value);
  }
  const std::size_t colon = pair.find(':');
  if (colon == std::string_view::npos || colon + 1 == pair.size() ||
      pair.find(':', colon + 1) != std::string_view::npos) {
    return InvalidArgument(
        "AWS authorization header is invalid.  Expected AwsAccessKeyId:signature", "Authorization",
        value);
  }
  VersionTwoClaim claim;
  claim.access_key_id = pair.substr(0, colon);
  claim.signature = pair.substr(colon + 1);
  const auto amz_date = head.Find("x-amz-date");
  claim.date_as_sent = amz_date ? *amz_date : head.Find("date").value_or(std::string_view());
  if (!amz_date) claim.date_line = claim.date_as_sent;
  const auto time = ParseAnyDate(claim.date_as_sent);
  if (!time) return AccessDenied("AWS authentication requires a valid Date or x-amz-date header");
  claim.time = *time;
  return claim;
}

std::string VersionTwoStringToSign(const s3::RequestHead& head, const s3::Target& target,
                                   const VersionTwoClaim& claim) {
  std::string text(head.method);
  text.append("\n").append(SignedValue(head, target, "content-md5", claim.in_query));
  text.append("\n").append(SignedValue(head, target, "content-type", claim.in_query));
  text.append("\n").append(claim.date_line).append("\n");
  return text + AmzHeaders(head, target, claim.in_query) + Resource(target);
}

Result<void> CheckVersionTwoCoverage(const s3::Target& target, const VersionTwoClaim& claim) {
  for (const s3::QueryParameter& parameter : target.query) {
    const std::string& name = parameter.name;
    if (IsSigned(name) ||
        std::binary_search(kUnsignedParameters.begin(), kUnsignedParameters.end(), name))
      continue;
    // In a presigned URL, x-amz-* parameters are signed as the headers that they replace. Unknown
    // parameters have no effect.
    const bool amz = s3::StartsWithIgnoreCase(name, "x-amz-");
    if (amz ? claim.in_query : !s3::IsKnownParameter(name)) continue;
    Error error = AccessDenied("Signature Version 2 does not cover the query parameter '" + name +
                               "'; sign the request with AWS4-HMAC-SHA256");
    error.details.emplace_back("ParametersNotSigned", name);
    return error;
  }
  return Ok();
}

Result<void> CheckVersionTwoTime(const VersionTwoClaim& claim, WallTime now) {
  if (!claim.in_query) {
    if (claim.time <= now + kAllowedSkew && now <= claim.time + kAllowedSkew) return Ok();
    return RequestTimeTooSkewed(claim.date_as_sent, now);
  }
  if (now <= claim.time) return Ok();
  Error error = AccessDenied("Request has expired");
  error.details.emplace_back("Expires", FormatSeconds(claim.time));
  error.details.emplace_back("ServerTime", FormatSeconds(now));
  return error;
}

Result<void> CheckVersionTwoSignature(const s3::Exchange& exchange, const VersionTwoClaim& claim,
                                      std::string_view secret) {
  const auto signs = [&](std::string_view text) {
    const std::string expected = Base64Encode(HmacSha1(AsBytes(secret), AsBytes(text)));
    return ConstantTimeEqual(AsBytes(expected), AsBytes(claim.signature));
  };
  const s3::Target& target = exchange.target;
  const std::string text = VersionTwoStringToSign(exchange.request, target, claim);
  if (signs(text)) return Ok();
  // botocore sends "/bucket" and signs "/bucket/".
  const bool is_bucket = !target.virtual_hosted && !target.bucket.value.empty();
  if (is_bucket && target.raw_path == "/" + target.bucket.value) {
    s3::Target with_slash = target;
    with_slash.raw_path += '/';
    if (signs(VersionTwoStringToSign(exchange.request, with_slash, claim))) return Ok();
  }
  return SignatureDoesNotMatch({.access_key_id = claim.access_key_id,
                                .string_to_sign = text,
                                .signature_provided = claim.signature,
                                .canonical_request = {}});
}

}  // namespace penstock::emulator::auth
