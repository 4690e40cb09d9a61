// The canonical request of SigV4 (spec/protocol.md §2.14): what exactly a signature covers. Pure
// text, no keys.
#ifndef PENSTOCK_CLIENT_AUTH_CANONICAL_H_
#define PENSTOCK_CLIENT_AUTH_CANONICAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "client/http/transport.h"

namespace penstock::auth {

// "a=&b=1": parameters sorted by encoded name, then value; every one with '='. Each name and value
// is brought to the one encoding that the server will compute (so "prefix=a/b" counts as
// "prefix=a%2Fb"); a '%' that encodes nothing stands for itself.
std::string CanonicalQuery(std::string_view query);

// Leading and trailing blanks removed, runs of blanks and line breaks made one space.
std::string CanonicalHeaderValue(std::string_view value);

struct CanonicalHeaders {
  std::string lines;  // "name:value\n" each, sorted, duplicates joined with ','
  std::string names;  // "a;b"
};

// All headers but those that a hop may change or that the signature itself is: authorization,
// connection, expect, transfer-encoding, user-agent, x-amzn-trace-id.
CanonicalHeaders CanonicalizeHeaders(const std::vector<http::Header>& headers);

// `path` as it goes on the wire: S3 neither re-encodes nor normalises it. Empty counts as "/".
std::string CanonicalRequest(std::string_view method, std::string_view path,
                             std::string_view canonical_query, const CanonicalHeaders& headers,
                             std::string_view payload_hash);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_CANONICAL_H_
