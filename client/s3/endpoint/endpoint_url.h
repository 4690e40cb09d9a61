// Parses a custom endpoint URL. For AWS's own host names see endpoint.h.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_URL_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_URL_H_

#include <string>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::s3 {

struct EndpointUrl {
  std::string scheme;  // "http" or "https".
  std::string host;    // Lower case; IPv6 without brackets.
  int port = 0;        // Always set.
  std::string path;    // "" or "/prefix", no trailing slash.
  bool is_ip = false;  // IPv4 or IPv6 literal.
};

// Returns kInvalidArgument "Custom endpoint `X` was not a valid URI" with the reason. User info,
// query and fragment are not allowed. A URL with user info is left out of the message, because it
// may contain a password.
Result<EndpointUrl> ParseEndpointUrl(std::string_view url);

bool IsIpv4Literal(std::string_view host);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_URL_H_
