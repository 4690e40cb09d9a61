// The canonical request of SigV4: the text that a signature covers ("Create a signed AWS API
// request", AWS IAM User Guide). Pure text functions without keys.
#ifndef PENSTOCK_CLIENT_AUTH_CANONICAL_H_
#define PENSTOCK_CLIENT_AUTH_CANONICAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "client/http/transport.h"

namespace penstock::auth {

// Returns "a=&b=1": parameters sorted by encoded name, then value, each with '='. Names and values
// are re-encoded as the server encodes them, so "prefix=a/b" becomes "prefix=a%2Fb". A '%' that
// encodes nothing is literal.
std::string CanonicalQuery(std::string_view query);

// Removes leading and trailing blanks and replaces runs of blanks and line breaks by one space.
std::string CanonicalHeaderValue(std::string_view value);

struct CanonicalHeaders {
  std::string lines;  // "name:value\n" each, sorted; duplicates are joined with ','.
  std::string names;  // "a;b".
};

// Uses all headers except those that a proxy may change or that contain the signature:
// authorization, connection, expect, transfer-encoding, user-agent, x-amzn-trace-id.
CanonicalHeaders CanonicalizeHeaders(const std::vector<http::Header>& headers);

// `path` is used as sent: S3 neither re-encodes nor normalises it. Empty means "/".
std::string CanonicalRequest(std::string_view method, std::string_view path,
                             std::string_view canonical_query, const CanonicalHeaders& headers,
                             std::string_view payload_hash);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_CANONICAL_H_
