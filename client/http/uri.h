// Percent-encoding as the client writes it: RFC 3986, one byte at a time, upper-case hex, only
// unreserved characters bare.
//
// These are the encodings SigV4 wants too (spec/protocol.md §2.14), so a target built from them is
// canonical as it goes on the wire. Knows nothing of buckets or keys.
#ifndef PENSTOCK_CLIENT_HTTP_URI_H_
#define PENSTOCK_CLIENT_HTTP_URI_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/transport.h"

namespace penstock::http {

// Everything but A-Z a-z 0-9 - . _ ~ becomes %XX, '/' included. For query names and values, and
// x-amz-copy-source parts.
std::string EncodeQuery(std::string_view text);

// As EncodeQuery, but '/' stays. Empty segments and dot segments are kept: an S3 key is not a file
// path.
std::string EncodePath(std::string_view text);

// Bytes behind %XX; '+' stays '+'. nullopt when a '%' is not followed by two hex digits.
std::optional<std::string> DecodePercent(std::string_view text);

// Parameters in the given order: "a=1&b=&c=x%20y". Names and values are raw. Empty list: empty
// string.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;
std::string BuildQuery(const QueryParameters& parameters);

// A parsed endpoint URL.
struct Url {
  Endpoint endpoint;  // host lower-case
  std::string path;   // with leading '/', or empty; as written
  std::string query;  // without '?'; as written
  bool port_given = false;
};

// Reads "http://host[:port][/path][?query]" (https likewise; IPv6 in brackets; port 80 or 443 where
// none is given). kInvalidArgument, naming the URL and what is wrong, for another scheme, user
// info, a fragment, a bad port or host.
Result<Url> ParseUrl(std::string_view text);

// Value of the Host header: brackets around IPv6, ":port" unless it is the scheme's own.
std::string HostHeader(const Endpoint& endpoint);

// "host:port" for messages.
std::string Authority(const Endpoint& endpoint);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_URI_H_
