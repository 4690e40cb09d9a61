// What a request states about itself, unverified: its access key, its attempt number and its rank.
#ifndef PENSTOCK_EMULATOR_S3_CORE_REQUEST_CLAIMS_H_
#define PENSTOCK_EMULATOR_S3_CORE_REQUEST_CLAIMS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// Returns the access key in the Authorization header or the query, of signature version 2 or 4.
// Empty: none. The result is a view into the arguments. A form carries its access key in its body,
// which is not searched.
std::string_view ClaimedAccessKey(const RequestHead& head, const Target& target);

// Parses the header amz-sdk-request, which AWS SDKs send: "ttl=20260101T000000Z; attempt=2; max=3"
// returns 2. Returns nullopt if there is no number.
std::optional<std::uint64_t> ClaimedAttempt(std::string_view sdk_request);

// Returns the rank of the requesting process in its job: the value of x-penstock-rank (`header`;
// empty: none), otherwise N of "rank/N" in the user agent. nullopt: neither is a number.
std::optional<std::uint64_t> ClaimedRank(std::string_view header, std::string_view user_agent);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_REQUEST_CLAIMS_H_
