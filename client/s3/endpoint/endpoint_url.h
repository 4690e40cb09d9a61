// A custom endpoint URL, taken apart. Not for AWS's own host names (endpoint.h).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_URL_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_URL_H_

#include <string>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::s3 {

struct EndpointUrl {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower-case; IPv6 without brackets
  int port = 0;        // always set
  std::string path;    // "" or "/prefix", no trailing slash
  bool is_ip = false;  // IPv4 or IPv6 literal
};

// kInvalidArgument "Custom endpoint `X` was not a valid URI" and why. User info, query and fragment
// are refused; a URL with user info is not repeated in the message, since that part may be a
// password.
Result<EndpointUrl> ParseEndpointUrl(std::string_view url);

bool IsIpv4Literal(std::string_view host);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_ENDPOINT_URL_H_
