#include "client/s3/endpoint/endpoint_url.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/http/uri.h"

namespace penstock::s3 {
namespace {

constexpr std::string_view kFix =
    "; give http://host[:port][/prefix] or https://host[:port][/prefix]";

Error BadUrl(std::string_view shown, std::string_view why) {
  return Error::Make(ErrorKind::kInvalidArgument, "Custom endpoint `" + std::string(shown) +
                                                      "` was not a valid URI: " + std::string(why) +
                                                      std::string(kFix));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool IsIpv4Literal(std::string_view host) {
  int fields = 0;
  while (true) {
    const std::size_t dot = host.find('.');
    const std::string_view field = host.substr(0, dot);
    if (field.empty() || field.size() > 3 || !std::all_of(field.begin(), field.end(), IsDigit))
      return false;
    int value = 0;
    std::from_chars(field.data(), field.data() + field.size(), value);
    if (value > 255) return false;
    ++fields;
    if (dot == std::string_view::npos) return fields == 4;
    host.remove_prefix(dot + 1);
  }
}

Result<EndpointUrl> ParseEndpointUrl(std::string_view url) {
  if (url.find('@') != std::string_view::npos) {
    return BadUrl("(hidden)", "user info is not allowed");
  }
  auto parsed = http::ParseUrl(url);
  if (!parsed.ok()) return BadUrl(url, parsed.error().message);
  if (url.find('?') != std::string_view::npos) return BadUrl(url, "a query is not allowed");
  const std::string& host = parsed->endpoint.host;
  if (host.starts_with('.') || host.find("..") != std::string::npos)
    return BadUrl(url, "the host has an empty label");
  EndpointUrl out;
  out.scheme = parsed->endpoint.scheme;
  out.host = parsed->endpoint.host;
  out.port = parsed->endpoint.port;
  out.path = parsed->path;
  while (!out.path.empty() && out.path.back() == '/') out.path.pop_back();
  out.is_ip = out.host.find(':') != std::string::npos || IsIpv4Literal(out.host);
  return out;
}

}  // namespace penstock::s3
