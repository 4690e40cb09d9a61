#include "client/http/uri.h"

#include <charconv>

#include "base/ascii.h"

namespace penstock::http {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void AppendEncoded(std::string& out, std::string_view text, bool keep_slash) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (IsUnreserved(c) || (keep_slash && c == '/')) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool IsHostCharacter(char c, bool ipv6) {
  if (ipv6) return HexValue(c) >= 0 || c == ':' || c == '.';
  return IsUnreserved(c) && c != '~';
}

Error BadUrl(std::string_view text, const std::string& why) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "'" + std::string(text) + "' is not a usable endpoint URL: " + why);
}

// Splits "host", "host:port" or "[v6]:port" into `url`.
Result<void> ReadAuthority(std::string_view text, std::string_view authority, Url& url) {
  const bool ipv6 = authority.starts_with('[');
  std::string_view host;
  std::string_view rest;
  if (ipv6) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos)
      return BadUrl(text, "']' is missing after the IPv6 address");
    host = authority.substr(1, close - 1);
    rest = authority.substr(close + 1);
  } else {
    const std::size_t colon = authority.find(':');
    host = authority.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
  }
  if (host.empty()) return BadUrl(text, "it has no host");
  for (const char c : host) {
    if (!IsHostCharacter(c, ipv6)) return BadUrl(text, "its host has an invalid character");
    url.endpoint.host.push_back(AsciiLower(c));
  }
  if (rest.empty()) return Ok();
  if (rest[0] != ':') return BadUrl(text, "only ':' and a port may follow the host");
  rest.remove_prefix(1);
  if (rest.empty()) return Ok();  // RFC 3986 allows "host:"
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), url.endpoint.port);
  if (error != std::errc() || end != rest.data() + rest.size() || url.endpoint.port < 1 ||
      url.endpoint.port > 65535) {
    return BadUrl(text, "its port is not a number from 1 to 65535");
  }
  url.port_given = true;
  return Ok();
}

}  // namespace

std::string EncodeQuery(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  AppendEncoded(out, text, false);
  return out;
}

std::string EncodePath(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  AppendEncoded(out, text, true);
  return out;
}

std::optional<char> DecodeEscape(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return std::nullopt;
  const int high = HexValue(text[1]);
  const int low = HexValue(text[2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

std::optional<std::string> DecodePercent(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const std::optional<char> byte = DecodeEscape(text.substr(i));
    if (!byte) return std::nullopt;
    out.push_back(*byte);
    i += 2;
  }
  return out;
}

std::string BuildQuery(const QueryParameters& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out.push_back('&');
    AppendEncoded(out, name, false);
    out.push_back('=');
    AppendEncoded(out, value, false);
  }
  return out;
}

Result<Url> ParseUrl(std::string_view text) {
  // User info is a secret: reject it before a message can quote the URL.
  const std::size_t authority_at = text.find("://");
  if (authority_at == std::string_view::npos)
    return BadUrl(text, "it does not start with http:// or https://");
  std::string_view rest = text.substr(authority_at + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "an endpoint URL must not contain a user name or password before '@'");
  }
  Url url;
  if (StartsWithIgnoringCase(text, "https://")) {
    url.endpoint.port = 443;
  } else if (StartsWithIgnoringCase(text, "http://")) {
    url.endpoint.scheme = "http";
    url.endpoint.port = 80;
  } else {
    return BadUrl(text, "its scheme is neither http nor https");
  }
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f)
      return BadUrl(text, "it contains a space, control or non-ASCII character");
  }
  if (rest.find('#') != std::string_view::npos) return BadUrl(text, "it has a fragment ('#')");
  PENSTOCK_TRY(ReadAuthority(text, authority, url));
  rest.remove_prefix(authority.size());
  const std::size_t question = rest.find('?');
  url.path = std::string(rest.substr(0, question));
  if (question != std::string_view::npos) url.query = std::string(rest.substr(question + 1));
  return url;
}

std::string Authority(const Endpoint& endpoint) {
  const bool ipv6 = endpoint.host.find(':') != std::string::npos;
  std::string out = ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
  return out.append(":").append(std::to_string(endpoint.port));
}

std::string HostHeader(const Endpoint& endpoint) {
  std::string out = Authority(endpoint);
  const int own_port = endpoint.scheme == "https" ? 443 : 80;
  if (endpoint.port == own_port) out.resize(out.rfind(':'));
  return out;
}

}  // namespace penstock::http
