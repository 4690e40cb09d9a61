// The attempt number that an AWS SDK sends with a request.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_SDK_ATTEMPT_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_SDK_ATTEMPT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::emulator::s3 {

// Parses the header amz-sdk-request: "ttl=20260101T000000Z; attempt=2; max=3" returns 2. Returns
// nullopt if there is no number.
std::optional<std::uint64_t> ClaimedAttempt(std::string_view sdk_request);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_SDK_ATTEMPT_H_
