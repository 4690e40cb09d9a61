// Requests of AWS's query protocol, which STS uses, on the port of S3 (AWS General Reference,
// "Making API requests": parameters in a form or in the query string).
//
// The service in the credential scope selects them. AssumeRoleWithWebIdentity is unsigned: an
// unsigned form that is posted to "/", which is no operation of S3, belongs to STS, too.
#ifndef PENSTOCK_EMULATOR_AUTH_QUERY_REQUEST_H_
#define PENSTOCK_EMULATOR_AUTH_QUERY_REQUEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

inline constexpr std::string_view kStsService = "sts";
// A web identity token has up to 20,000 characters, a session policy 2,048.
inline constexpr std::size_t kMaxQueryBodyBytes = 64u << 10;

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// Attached to the exchange of such a request.
struct QueryRequest final : message::Attachment {
  QueryParameters parameters;  // Without those of the signature.
  std::string payload_hash;    // SHA-256 of the body, in hexadecimal digits.
  std::string body;

  // The first parameter with that name; nullopt: none.
  std::optional<std::string_view> Get(std::string_view name) const;
};

// Parses "a=1&b=two+words". Returns nullopt if a '%' is not followed by two hexadecimal digits.
std::optional<QueryParameters> ParseQueryParameters(std::string_view text);

// True if the request is for STS. The target must have been parsed.
bool IsStsRequest(const s3::Exchange& exchange);

// Reads the body of a request for STS, attaches its QueryRequest and sets the operation to its
// action. Returns the errors of the body, RequestEntityTooLarge, and MalformedQueryString.
Result<void> ReadQueryRequest(s3::Exchange& exchange);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_QUERY_REQUEST_H_
