// Parses what a request claims about its signature: the Authorization header or the X-Amz-* query
// parameters.
//
// Checks syntax and scope only. It knows no users, keys or time of day.
#ifndef PENSTOCK_EMULATOR_AUTH_SIGNATURE_CLAIM_H_
#define PENSTOCK_EMULATOR_AUTH_SIGNATURE_CLAIM_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

enum class Mechanism { kAnonymous, kHeader, kQuery, kVersionTwoHeader, kVersionTwoQuery };

// Finds which mechanism the request uses. Returns InvalidArgument for two mechanisms, a second
// Authorization header or a second signature parameter.
Result<Mechanism> FindMechanism(const s3::RequestHead& head, const s3::Target& target);

// Views point into the request head and the target; they are valid while the exchange lives.
struct Claim {
  Mechanism mechanism = Mechanism::kHeader;
  std::string_view access_key_id;
  std::string_view scope;  // "day/region/service/aws4_request"
  std::string_view day;
  std::string_view region;
  std::string_view service;
  std::string_view terminal;
  std::vector<std::string_view> signed_headers;  // sorted
  std::string_view signature;
  std::string_view date_as_sent;
  std::string amz_date;  // the date in the string to sign
  WallTime time{};
  std::chrono::seconds expires{0};  // query only

  bool Signs(std::string_view lower_name) const;
};

// Return the errors that S3 documents for malformed claims, including the syntax of the scope.
Result<Claim> ParseHeaderClaim(const s3::RequestHead& head);
Result<Claim> ParseQueryClaim(const s3::Target& target);

// Whether a query parameter belongs to a signature of either version. Ignores case.
bool IsSignatureParameter(std::string_view name);

// Compares the scope with the requested endpoint, in the order recorded against Amazon S3: region,
// service, terminal, then the credential's day against the request's date. `service`: "s3", or
// "s3express" for a directory bucket.
Result<void> CheckScope(const Claim& claim, std::string_view region, std::string_view service);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_SIGNATURE_CLAIM_H_
