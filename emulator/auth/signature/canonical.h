// The server's half of SigV4: the canonical request that the client must have signed (AWS
// documentation: "Signature Calculations for the Authorization Header").
//
// Pure: no keys, no clock. Path and query are decoded and encoded again, as S3 does. A client may
// therefore sign one encoding and send another, but only of the same key.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_CANONICAL_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_CANONICAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

// Decodes ('+' is a space) and encodes once; keeps unreserved characters and '/'. Does not
// normalise dot segments or "//". Removes scheme and authority of an absolute-form target
// ("http://host/path").
std::string CanonicalPath(std::string_view raw_path);

// Returns name=value pairs sorted by encoded name, then value. Omits the parameter `leave_out` (a
// decoded name; may be empty).
std::string CanonicalQuery(std::string_view raw_query, std::string_view leave_out);

struct CanonicalInput {
  const s3::RequestHead& head;
  std::string_view raw_path;
  std::string_view raw_query;
  std::string_view query_leave_out;              // "X-Amz-Signature" for presigned requests
  std::vector<std::string_view> signed_headers;  // lower-case, sorted
  std::string_view payload_hash;                 // x-amz-content-sha256 as sent
};
std::string CanonicalRequest(const CanonicalInput& input);

// `scope` is "day/region/service/aws4_request".
std::string StringToSign(std::string_view amz_date, std::string_view scope,
                         std::string_view canonical_request);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_CANONICAL_H_
