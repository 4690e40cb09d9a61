// Whose access key a request says it was signed with.
#ifndef PENSTOCK_EMULATOR_S3_CORE_CLAIMED_KEY_H_
#define PENSTOCK_EMULATOR_S3_CORE_CLAIMED_KEY_H_

#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// As claimed by header or query, of either version of signatures; nothing is verified. Empty: none.
// A view into the arguments. A form's claim is in its body and not found.
std::string_view ClaimedAccessKey(const RequestHead& head, const Target& target);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_CLAIMED_KEY_H_
