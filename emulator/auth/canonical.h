// The server's half of SigV4: what the request on the wire must have been signed as
// (spec/protocol.md §2.14).
//
// Pure; no keys, no clock. The path and the query are re-encoded from their decoded form, as S3
// does, so a client that signs one encoding and sends another still has to mean the same key.
#ifndef PENSTOCK_EMULATOR_AUTH_CANONICAL_H_
#define PENSTOCK_EMULATOR_AUTH_CANONICAL_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

// Decoded ('+' is a space) and encoded once: unreserved characters and '/' stay. No dot-segment or
// "//" normalisation. An absolute-form target ("http://host/path") loses scheme and authority.
std::string CanonicalPath(std::string_view raw_path);

// name=value pairs in the order of their encoded names, then values. `leave_out` (a decoded name,
// may be empty) is dropped.
std::string CanonicalQuery(std::string_view raw_query, std::string_view leave_out);

struct CanonicalInput {
  const s3::RequestHead& head;
  std::string_view raw_path;
  std::string_view raw_query;
  std::string_view query_leave_out;              // "X-Amz-Signature" for presigned requests
  std::vector<std::string_view> signed_headers;  // lower-case, sorted
  std::string_view payload_hash;                 // the claim as sent
};
std::string CanonicalRequest(const CanonicalInput& input);

// `scope` is "day/region/service/aws4_request".
std::string StringToSign(std::string_view amz_date, std::string_view scope,
                         std::string_view canonical_request);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_CANONICAL_H_
