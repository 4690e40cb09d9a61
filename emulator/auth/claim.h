// What a request claims about its signature: the Authorization header or the X-Amz-* query taken
// apart.
//
// Syntax and scope only: nothing here knows users, keys or the time of day.
#ifndef PENSTOCK_EMULATOR_AUTH_CLAIM_H_
#define PENSTOCK_EMULATOR_AUTH_CLAIM_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::auth {

enum class Mechanism { kAnonymous, kHeader, kQuery, kVersionTwoHeader, kVersionTwoQuery };

// Which mechanism the request uses. InvalidArgument: two at once, or a second Authorization header
// or signature parameter.
Result<Mechanism> FindMechanism(const s3::RequestHead& head, const s3::Target& target);

// Views point into the request head and the target; they live as long as the exchange.
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
  std::string amz_date;  // of the string to sign
  WallTime time{};
  std::chrono::seconds expires{0};  // query only

  bool Signs(std::string_view lower_name) const;
};

// Errors as in §2.14's two tables, up to and including the scope's syntax.
Result<Claim> ParseHeaderClaim(const s3::RequestHead& head);
Result<Claim> ParseQueryClaim(const s3::Target& target);

// A query parameter that belongs to the signature itself (of either version), in any case of
// letters.
bool IsSignatureParameter(std::string_view name);

// The scope against the place asked, as S3 was seen to do it: region, service, terminal, then the
// credential's day against the request's date. `service`: "s3", or "s3express" for a directory
// bucket.
Result<void> CheckScope(const Claim& claim, std::string_view region, std::string_view service);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_CLAIM_H_
