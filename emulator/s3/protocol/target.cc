#include "emulator/s3/protocol/target.h"

#include <algorithm>
#include <iterator>

#include "base/text/utf8.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Omits the query, which may contain a signature and a token. Encodes non-ASCII bytes, which may
// not be UTF-8.
Error InvalidUri(std::string_view raw_target) {
  std::string uri;
  for (const char c : raw_target.substr(0, raw_target.find('?'))) {
    uri += IsAscii({&c, 1}) ? std::string(1, c) : PercentEncode({&c, 1});
  }
  return MakeError("InvalidURI", {{"URI", std::move(uri)}});
}

// "[::1]:9000" -> "[::1]", "b.localhost:80" -> "b.localhost".
std::string_view WithoutPort(std::string_view host) {
  const auto colon = host.rfind(':');
  if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos)
    return host;
  return host.substr(0, colon);
}

struct RegionalHost {
  std::string_view bucket;
  std::string_view region;  // Empty: not one of S3's regional names.
  DirectoryEndpoint directory_endpoint = DirectoryEndpoint::kNone;
  std::string_view zone = {};
};

// S3's own domain, and domains whose names resolve to the local machine.
constexpr std::string_view kDomains[] = {".amazonaws.com", ".localhost",
                                         ".localhost.localstack.cloud"};

// Parses "[bucket.]s3[.dualstack].<region>.DOMAIN" and "[bucket.]s3-<region>.DOMAIN", in lower case
// as SDKs write them, and the names of S3 Express One Zone (directory_names.h).
RegionalHost ParseRegionalHost(std::string_view host) {
  std::string_view rest = WithoutPort(host);
  const auto* const domain =
      std::find_if(std::begin(kDomains), std::end(kDomains),
                   [&](std::string_view suffix) { return rest.ends_with(suffix); });
  if (domain == std::end(kDomains)) return {};
  rest.remove_suffix(domain->size());
  const DirectoryHost directory = ParseDirectoryHost(rest);
  if (directory.endpoint != DirectoryEndpoint::kNone) {
    return {directory.bucket, directory.region, directory.endpoint, directory.zone};
  }
  const auto dot = rest.rfind('.');
  std::string_view region = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
  std::string_view before;  // "bucket." or empty.
  if (region.starts_with("s3-")) {
    region.remove_prefix(3);
    before = rest.substr(0, dot == std::string_view::npos ? 0 : dot + 1);
  } else {
    if (dot == std::string_view::npos) return {};
    before = rest.substr(0, dot);
    if (before.ends_with(".dualstack")) before.remove_suffix(std::string_view(".dualstack").size());
    if (before != "s3" && !before.ends_with(".s3")) return {};
    before.remove_suffix(2);
  }
  if (!IsAwsRegion(region)) return {};
  if (!before.empty()) before.remove_suffix(1);
  return {before, region};
}

// Returns the bucket of a virtual-hosted name; empty if no suffix matches.
std::string_view BucketOfHost(std::string_view host, const HostRules& rules) {
  const std::string_view name = WithoutPort(host);
  std::string_view bucket;
  std::size_t longest = 0;
  for (const std::string& suffix : rules.suffixes) {
    if (EqualsIgnoreCase(name, suffix)) return {};  // The endpoint itself.
    if (name.size() <= suffix.size() + 1 || suffix.size() < longest) continue;
    const std::size_t dot = name.size() - suffix.size() - 1;
    if (name[dot] != '.' || !EqualsIgnoreCase(name.substr(dot + 1), suffix)) continue;
    bucket = name.substr(0, dot);
    longest = suffix.size();
  }
  return bucket;
}

// Splits "http://host/path" into host and origin form. Leaves other targets unchanged.
void StripAuthority(std::string_view& target, std::string_view& host) {
  for (const std::string_view scheme :
       {std::string_view("http://"), std::string_view("https://")}) {
    if (!StartsWithIgnoreCase(target, scheme)) continue;
    const std::string_view rest = target.substr(scheme.size());
    const auto end = rest.find_first_of("/?");
    host = rest.substr(0, end);
    target = end == std::string_view::npos ? std::string_view("/") : rest.substr(end);
    return;
  }
}

bool ParseQuery(std::string_view raw, std::vector<QueryParameter>& query) {
  if (!raw.empty()) query.reserve(8);  // Enough for a presigned request.
  while (!raw.empty()) {
    const auto end = raw.find('&');
    const std::string_view piece = raw.substr(0, end);
    raw = end == std::string_view::npos ? std::string_view() : raw.substr(end + 1);
    if (piece.empty()) continue;
    const auto equals = piece.find('=');
    auto name = PercentDecode(piece.substr(0, equals), {});
    auto value = equals == std::string_view::npos ? std::string()
                                                  : PercentDecode(piece.substr(equals + 1), {});
    if (!name || !value || !IsValidUtf8(*name) || !IsValidUtf8(*value)) return false;
    query.push_back({std::move(*name), std::move(*value)});
  }
  return true;
}

}  // namespace

bool Target::Has(std::string_view name) const { return Get(name).has_value(); }

std::optional<std::string_view> Target::Get(std::string_view name) const {
  for (const QueryParameter& parameter : query) {
    if (parameter.name == name) return parameter.value;
  }
  return std::nullopt;
}

void Target::ReadPlusAsSpace() {
  std::string_view rest = raw_query;
  for (QueryParameter& parameter : query) {
    while (rest.starts_with('&')) rest.remove_prefix(1);  // Skips empty parameters.
    const std::string_view piece = rest.substr(0, rest.find('&'));
    rest.remove_prefix(piece.size());
    const auto equals = piece.find('=');
    if (equals == std::string_view::npos || piece.find('+', equals) == std::string_view::npos)
      continue;
    if (auto value = PercentDecode(piece.substr(equals + 1), {.plus_is_space = true}))
      parameter.value = std::move(*value);
  }
}

HostRules HostRules::Default(std::string_view region) {
  HostRules rules{{"localhost"}};
  const std::string regional = "s3." + std::string(region);
  for (const std::string_view domain : kDomains) {
    rules.suffixes.push_back("s3" + std::string(domain));
    rules.suffixes.push_back(regional + std::string(domain));
  }
  return rules;
}

Result<Target> ParseTarget(std::string_view raw_target, std::string_view host,
                           const HostRules& rules) {
  std::string_view rest = raw_target;
  StripAuthority(rest, host);
  const auto question = rest.find('?');
  Target target;
  target.raw_path = rest.substr(0, question);
  if (target.raw_path.empty()) target.raw_path = "/";
  if (question != std::string_view::npos) target.raw_query = rest.substr(question + 1);
  if (target.raw_path[0] != '/') return InvalidUri(raw_target);
  if (!ParseQuery(target.raw_query, target.query)) return InvalidUri(raw_target);

  std::string_view path = std::string_view(target.raw_path).substr(1);
  const RegionalHost regional = ParseRegionalHost(host);
  target.host_region = regional.region;
  target.directory_endpoint = regional.directory_endpoint;
  target.host_zone = regional.zone;
  target.on_s3_domain = WithoutPort(host).ends_with(kDomains[0]);
  const std::string_view host_bucket =
      regional.region.empty() ? BucketOfHost(host, rules) : regional.bucket;
  if (!host_bucket.empty()) {
    if (!IsValidUtf8(host_bucket)) return InvalidUri(raw_target);
    target.virtual_hosted = true;
    target.bucket = BucketName(std::string(host_bucket));
  } else {
    const auto slash = path.find('/');
    auto bucket = PercentDecode(path.substr(0, slash), {.plus_is_space = true});
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (!bucket || !IsValidUtf8(*bucket) || (bucket->empty() && !path.empty()))
      return InvalidUri(raw_target);
    target.bucket = BucketName(std::move(*bucket));
  }
  auto key = PercentDecode(path, {.plus_is_space = true});
  if (!key || !IsValidUtf8(*key)) return InvalidUri(raw_target);
  target.key = ObjectKey(std::move(*key));
  return target;
}

}  // namespace penstock::emulator::s3
