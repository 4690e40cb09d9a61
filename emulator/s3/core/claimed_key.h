// The access key that a request names in its signature, unverified.
#ifndef PENSTOCK_EMULATOR_S3_CORE_CLAIMED_KEY_H_
#define PENSTOCK_EMULATOR_S3_CORE_CLAIMED_KEY_H_

#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// Returns the access key in the Authorization header or the query, of signature version 2 or 4.
// Empty: none. The result is a view into the arguments. A form carries its access key in its body,
// which is not searched.
std::string_view ClaimedAccessKey(const RequestHead& head, const Target& target);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_CLAIMED_KEY_H_
