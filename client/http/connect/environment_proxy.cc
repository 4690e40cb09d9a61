#include "client/http/connect/environment_proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/encoding.h"
#include "base/text/redact.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

std::string_view Trimmed(std::string_view text, char what) {
  while (text.starts_with(what)) text.remove_prefix(1);
  while (text.ends_with(what)) text.remove_suffix(1);
  return text;
}

// Returns the bytes of a numeric address; empty for a name.
std::vector<unsigned char> AddressBytes(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const std::string host(text);
  std::vector<unsigned char> bytes(sizeof(in6_addr));
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(sizeof(in_addr));
  if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

bool SamePrefix(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b,
                std::size_t bits) {
  if (a.size() != b.size() || bits > a.size() * 8) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin()))
    return false;
  return bits % 8 == 0 || ((a[whole] ^ b[whole]) >> (8 - bits % 8)) == 0;
}

// Returns whether an entry of no_proxy matches this host. An entry is an address, a network in CIDR
// form, or a domain.
bool Excludes(std::string_view entry, const std::string& host) {
  const std::vector<unsigned char> address = AddressBytes(host);
  if (!address.empty()) {
    const std::size_t slash = entry.find('/');
    const std::string_view length =
        slash == std::string_view::npos ? std::string_view() : entry.substr(slash + 1);
    std::size_t bits = address.size() * 8;
    if (!length.empty()) std::from_chars(length.data(), length.data() + length.size(), bits);
    return SamePrefix(address, AddressBytes(entry.substr(0, slash)), bits);
  }
  const std::string domain = AsciiLower(Trimmed(entry, '.'));
  const std::string name = AsciiLower(Trimmed(host, '.'));
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

// The components of a proxy URL. A password may contain any character, also '/', so the credentials
// end at the last '@'.
struct UrlParts {
  std::string_view scheme;       // may be empty, as the others
  std::string_view credentials;  // "user:password"
  std::string_view host;
  std::optional<std::string_view> port;
};

UrlParts SplitUrl(std::string_view url) {
  UrlParts pieces;
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    pieces.scheme = url.substr(0, scheme);
    url.remove_prefix(scheme + 3);
  }
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    pieces.credentials = url.substr(0, at);
    url.remove_prefix(at + 1);
  }
  url = url.substr(0, url.find_first_of("/?#"));
  const std::size_t colon = url.rfind(':');
  if (colon != std::string_view::npos && url.find(']', colon) == std::string_view::npos)
    pieces.port = url.substr(colon + 1);
  pieces.host = pieces.port ? url.substr(0, colon) : url;
  return pieces;
}

bool IsPort(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number <= 65535;
}

bool IsScheme(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
}

// Converts "http://user:secret@proxy:3128/" to "proxy:3128".
std::string AddressOf(const UrlParts& url) {
  // "user:secret" without a host: the text after ':' is not a port.
  if (url.host.empty() || (url.port && !IsPort(*url.port))) return "?";
  const std::string_view usual = AsciiLower(url.scheme) == "https" ? "443" : "1080";  // libcurl's
  std::string address = std::string(url.host) + ":" + std::string(url.port.value_or(usual));
  std::ranges::replace_if(
      address, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return address;
}

// Also as %XX.
bool HasControl(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') c = DecodeEscape(text.substr(at)).value_or('%');
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') return true;
  }
  return false;
}

// libcurl reports most of these too, but quotes the URL with its password. With control characters
// in the credentials it connects without the proxy.
std::string ProblemOf(std::string_view text, const UrlParts& url) {
  constexpr std::string_view kShape =
      "write it as http://host:port, with user:password@ before the host if the proxy requires "
      "them, special characters of both as %XX";
  constexpr std::array<std::string_view, 7> kSchemes = {"http",    "https",  "socks",  "socks4",
                                                        "socks4a", "socks5", "socks5h"};
  const std::string scheme = AsciiLower(url.scheme);
  if (!scheme.empty() && std::ranges::find(kSchemes, scheme) == kSchemes.end()) {
    const std::string shown = IsScheme(scheme)
                                  ? "has the scheme '" + scheme + "', which is not supported"
                                  : "has no valid scheme";
    return shown + ": use http, https, socks4, socks4a, socks5 or socks5h";
  }
  if (HasControl(text)) return "has a control character, also as %XX: " + std::string(kShape);
  if (url.host.empty()) return "has no host: " + std::string(kShape);
  if (url.port && !IsPort(*url.port)) return "has no port from 0 to 65535: " + std::string(kShape);
  return {};
}

// User and password are percent-encoded in the URL, and separated by the first ':'.
struct ProxyUser {
  std::string name;
  std::string password;

  static ProxyUser Of(std::string_view credentials) {
    const std::size_t colon = std::min(credentials.find(':'), credentials.size());
    const auto decoded = [](std::string_view text) {
      return DecodePercent(text).value_or(std::string(text));
    };
    return {decoded(credentials.substr(0, colon)),
            decoded(credentials.substr(std::min(colon + 1, credentials.size())))};
  }
  std::string Pair() const { return name + ":" + password; }
};

constexpr std::string_view kBasic = "Basic ";

std::string AuthorizationOf(std::string_view credentials) {
  if (credentials.empty()) return {};
  return std::string(kBasic) + Base64Encode(AsBytes(ProxyUser::Of(credentials).Pair()));
}

// Adds the secrets of a proxy URL, longer ones first.
void AddSecrets(std::string_view url, std::vector<std::string>& secrets) {
  const UrlParts pieces = SplitUrl(url);
  const bool has_port = !pieces.port || IsPort(*pieces.port);
  if (!pieces.credentials.empty() || !has_port) secrets.emplace_back(url);
  if (!has_port) secrets.emplace_back(*pieces.port);  // "user:secret" without a host
  if (pieces.credentials.empty()) return;
  const ProxyUser user = ProxyUser::Of(pieces.credentials);
  secrets.push_back(AuthorizationOf(pieces.credentials).substr(kBasic.size()));
  secrets.push_back(user.Pair());
  secrets.push_back(user.password.empty() ? user.name : user.password);
}

}  // namespace

std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint, const GetVariable& environment) {
  const auto set = [&](const char* name) -> std::string_view {
    const char* const value = environment(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  };
  const std::string_view excluded = set("no_proxy").empty() ? set("NO_PROXY") : set("no_proxy");
  if (IsExcluded(excluded, endpoint.host)) return std::nullopt;
  // HTTP_PROXY is ignored, because a CGI program gets it from a request header.
  const bool tls = endpoint.scheme == "https";
  for (const char* const name : {tls ? "https_proxy" : "http_proxy",
                                 tls ? "HTTPS_PROXY" : "all_proxy", "all_proxy", "ALL_PROXY"}) {
    if (set(name).empty()) continue;
    const UrlParts pieces = SplitUrl(set(name));
    return EnvironmentProxy{.address = AddressOf(pieces),
                            .variable = name,
                            .url = std::string(set(name)),
                            .fault = ProblemOf(set(name), pieces),
                            .forwards = !AsciiLower(pieces.scheme).starts_with("socks"),
                            .is_tls = AsciiLower(pieces.scheme) == "https",
                            .authorization = AuthorizationOf(pieces.credentials)};
  }
  return std::nullopt;
}

std::optional<EnvironmentProxy> ProxyFor(const Endpoint& endpoint) {
  return ProxyFor(endpoint, [](const char* name) { return std::getenv(name); });
}

std::optional<EnvironmentProxy> ProxyFor(const Request& request) {
  const ConnectSettings* const settings = request.connect.get();
  if (settings == nullptr || !settings->proxy_url) return ProxyFor(request.endpoint);
  auto proxy = ProxyFor(request.endpoint, [settings](const char* name) -> const char* {
    const std::string_view variable = name;
    if (variable == "no_proxy") return settings->no_proxy.c_str();
    return variable == "all_proxy" ? settings->proxy_url->c_str() : nullptr;
  });
  if (proxy) proxy->variable = "ClientConfig::proxy";
  return proxy;
}

bool HasProxyFor(const Request& request) {
  if (request.connect == nullptr || !request.connect->proxy_url)
    return HasProxyFor(request.endpoint.scheme);
  return !request.connect->proxy_url->empty();
}

bool HasProxyFor(std::string_view scheme) {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const bool own =
      scheme == "https" ? is_set("https_proxy") || is_set("HTTPS_PROXY") : is_set("http_proxy");
  return own || is_set("all_proxy") || is_set("ALL_PROXY");
}

ProxySecrets::ProxySecrets(const GetVariable& environment) {
  for (const char* const name :
       {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    const char* const value = environment(name);
    if (value != nullptr) AddSecrets(value, values_);
  }
}

ProxySecrets::ProxySecrets() : ProxySecrets([](const char* name) { return std::getenv(name); }) {}

ProxySecrets::ProxySecrets(std::string_view url) { AddSecrets(url, values_); }

void ProxySecrets::Redact(std::string& text) const {
  for (const std::string& value : values_) penstock::internal::RedactValue(text, value);
}

}  // namespace penstock::http
