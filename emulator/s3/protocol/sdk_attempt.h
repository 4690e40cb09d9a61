// Which attempt of a call an AWS SDK says a request is.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_SDK_ATTEMPT_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_SDK_ATTEMPT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::emulator::s3 {

// Of the value of amz-sdk-request: "ttl=20260101T000000Z; attempt=2; max=3" has 2. nullopt where it
// does not say.
std::optional<std::uint64_t> ClaimedAttempt(std::string_view sdk_request);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_SDK_ATTEMPT_H_
