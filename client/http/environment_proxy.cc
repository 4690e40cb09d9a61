#include "client/http/environment_proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace penstock::http {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

std::string_view Trimmed(std::string_view text, char what) {
  while (text.starts_with(what)) text.remove_prefix(1);
  while (text.ends_with(what)) text.remove_suffix(1);
  return text;
}

// The bytes of a numeric address; empty: it is a name.
std::vector<unsigned char> AddressBytes(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string host(text);
  std::vector<unsigned char> bytes(sizeof(in6_addr));
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(sizeof(in_addr));
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

bool SamePrefix(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b, std::size_t bits) {
  if (a.size() != b.size() || bits > a.size() * 8) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) return false;
  return bits % 8 == 0 || ((a[whole] ^ b[whole]) >> (8 - bits % 8)) == 0;
}

// Whether an entry of no_proxy means this host: an address or a network for addresses, a domain for names.
bool Excludes(std::string_view entry, const std::string& host) {
  const std::vector<unsigned char> address = AddressBytes(host);
  if (!address.empty()) {
    const std::size_t slash = entry.find('/');
    const std::string_view length = slash == std::string_view::npos ? std::string_view() : entry.substr(slash + 1);
    std::size_t bits = address.size() * 8;
    if (!length.empty()) std::from_chars(length.data(), length.data() + length.size(), bits);
    return SamePrefix(address, AddressBytes(entry.substr(0, slash)), bits);
  }
  const std::string domain = LowerCase(Trimmed(entry, '.'));
  const std::string name = LowerCase(Trimmed(host, '.'));
  return !domain.empty() && (name == domain || name.ends_with("." + domain));
}

bool IsExcluded(std::string_view list, const std::string& host) {
  constexpr std::string_view kSeparators = ", \t";
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(kSeparators), list.size());
    const std::string_view entry = list.substr(0, end);
    if (entry == "*" || (!entry.empty() && Excludes(entry, host))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// "http://user:secret@proxy:3128/" as "proxy:3128".
std::string AddressOf(std::string_view url) {
  std::string port = ":1080";  // libcurl's
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    if (LowerCase(url.substr(0, scheme)) == "https") port = ":443";
    url.remove_prefix(scheme + 3);
  }
  // A password may hold any character, also '/': what stands before the last '@' is never shown.
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  std::string address(url.substr(0, url.find_first_of("/?#")));
  const std::size_t colon = address.rfind(':');
  const bool port_given = colon != std::string::npos && address.find(']', colon) == std::string::npos;
  if (!port_given) address += port;
  std::ranges::replace_if(address, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return address;
}

}  // namespace

std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint, const GetVariable& environment) {
  const auto set = [&](const char* name) -> std::string_view {
    const char* const value = environment(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  };
  const std::string_view excluded = set("no_proxy").empty() ? set("NO_PROXY") : set("no_proxy");
  if (IsExcluded(excluded, endpoint.host)) return std::nullopt;
  // HTTP_PROXY is not among them: a CGI program would take it from a stranger's header.
  const bool tls = endpoint.scheme == "https";
  for (const char* const name : {tls ? "https_proxy" : "http_proxy", tls ? "HTTPS_PROXY" : "all_proxy", "all_proxy", "ALL_PROXY"}) {
    if (!set(name).empty()) return EnvironmentProxy{AddressOf(set(name)), name};
  }
  return std::nullopt;
}

std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint) {
  return ProxyFor(endpoint, [](const char* name) { return std::getenv(name); });
}

}  // namespace penstock::http
