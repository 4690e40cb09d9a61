// Percent-encoding of the client: RFC 3986, byte by byte, upper-case hex, only unreserved
// characters unencoded.
//
// SigV4 uses the same encoding (Amazon S3 API reference, "Authenticating Requests (AWS Signature
// Version 4)"), so a target built with these functions is canonical. Independent of buckets and
// keys.
#ifndef PENSTOCK_CLIENT_HTTP_URI_H_
#define PENSTOCK_CLIENT_HTTP_URI_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/transport.h"

namespace penstock::http {

// Encodes everything except A-Z a-z 0-9 - . _ ~ as %XX, including '/'. For query names and values,
// and for parts of x-amz-copy-source.
std::string EncodeQuery(std::string_view text);

// Same, but keeps '/'. Keeps empty segments and dot segments, because an S3 key is not a file path.
std::string EncodePath(std::string_view text);

// Returns the byte that the escape %XX at the front of `text` encodes; nullopt if there is none.
std::optional<char> DecodeEscape(std::string_view text);
// Decodes %XX; '+' stays '+'. Returns nullopt if a '%' is not followed by two hex digits.
std::optional<std::string> DecodePercent(std::string_view text);

// Joins parameters in the given order: "a=1&b=&c=x%20y". Names and values are raw. An empty list
// gives an empty string.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;
std::string BuildQuery(const QueryParameters& parameters);

// A parsed endpoint URL.
struct Url {
  Endpoint endpoint;  // host lower-case
  std::string path;   // with leading '/', or empty; as given
  std::string query;  // without '?'; as given
  bool port_given = false;
};

// Parses "http://host[:port][/path][?query]" (also https; IPv6 in brackets; default port 80 or
// 443). Returns kInvalidArgument with the URL and the reason for another scheme, user info, a
// fragment, or an invalid port or host.
Result<Url> ParseUrl(std::string_view text);

// Returns the value of the Host header: brackets around IPv6, ":port" unless it is the default port
// of the scheme.
std::string HostHeader(const Endpoint& endpoint);

// Returns "host:port" for messages.
std::string Authority(const Endpoint& endpoint);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_URI_H_
